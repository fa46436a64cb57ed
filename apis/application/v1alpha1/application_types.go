package v1alpha1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Application describes a program that runs as a Deployment and, if asked, is reached through a Service. Both carry
// the Application's name. The operator owns only those of their fields that the spec speaks of.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=applications,singular=application,scope=Namespaced,shortName=appl,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.deploymentStatus.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,description="Image of the main container"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="Pending, Running or Failed"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the children are as the spec wants them and serve"
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`,description="Whether enough pods are available"
// +kubebuilder:printcolumn:name="Conflicts",type=string,JSONPath=`.status.conflicts[*].field`,description="The first field that another manager owns with another value; status.conflicts lists all"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name becomes the name of a Service and the value of a label: use at most 63 lower case letters, digits or '-', beginning with a letter and ending with a letter or digit"
type Application struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants.
	// +required
	Spec ApplicationSpec `json:"spec"`
	// status is what the operator observed. Only the operator writes it.
	// +optional
	Status ApplicationStatus `json:"status,omitempty"`
}

// ApplicationList is a list of Applications.
//
// +kubebuilder:object:root=true
type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Application `json:"items"`
}

// ApplicationSpec is what the user wants. A field that is absent is not owned by the operator on the children either:
// whoever else sets it there keeps it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.expose) || has(self.port)",message="spec.expose needs spec.port: set the port that the Service shall expose, or remove spec.expose"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || has(self.expose)",message="spec.service needs spec.expose: without it there is no Service; set spec.expose, or remove spec.service"
type ApplicationSpec struct {
	// image is the container image of the main container, which is called "app".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self.trim() == self",message="spec.image must not begin or end with white space"
	Image string `json:"image"`

	// imagePullPolicy says when the kubelet pulls the image. Absent: Always for the tag latest, else IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;Never;IfNotPresent
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// command replaces the image's entry point. $(NAME) is replaced by the variable of that name.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty"`

	// args are the arguments of the entry point. $(NAME) is replaced by the variable of that name.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`

	// env lists environment variables, each name once.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:XValidation:rule="self.all(e, e.name != '')",message="each entry of spec.env needs a name that is not empty"
	// +kubebuilder:validation:XValidation:rule="self.all(e, !has(e.valueFrom) || [has(e.valueFrom.fieldRef), has(e.valueFrom.resourceFieldRef), has(e.valueFrom.configMapKeyRef), has(e.valueFrom.secretKeyRef), has(e.valueFrom.fileKeyRef)].exists_one(s, s))",message="valueFrom of an entry of spec.env needs exactly one source"
	// +kubebuilder:validation:XValidation:rule="self.all(e, !has(e.valueFrom) || !has(e.value) || e.value == '')",message="an entry of spec.env has both value and valueFrom: keep one of the two"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom lists ConfigMaps and Secrets whose keys become environment variables. Entries of env win.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:XValidation:rule="self.all(e, has(e.configMapRef) != has(e.secretRef))",message="each entry of spec.envFrom needs exactly one of configMapRef and secretRef"
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// resources are the compute resources of the main container.
	// +optional
	// +kubebuilder:validation:XValidation:rule="['cpu', 'memory'].all(r, !has(self.limits) || !has(self.requests) || !(r in self.limits) || !(r in self.requests) || quantity(string(self.requests[r])).compareTo(quantity(string(self.limits[r]))) <= 0)",message="spec.resources requests more cpu or memory than its limit: lower the request or raise the limit"
	// +kubebuilder:validation:XValidation:rule="!has(self.claims) || self.claims.size() == 0",message="spec.resources.claims cannot be used: the pods of an Application have no resource claims"
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// livenessProbe restarts the container when it fails.
	// +optional
	// +kubebuilder:validation:XValidation:rule="[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].exists_one(h, h)",message="spec.livenessProbe needs exactly one of exec, httpGet, tcpSocket and grpc"
	// +kubebuilder:validation:XValidation:rule="[has(self.initialDelaySeconds) ? self.initialDelaySeconds : 0, has(self.timeoutSeconds) ? self.timeoutSeconds : 1, has(self.periodSeconds) ? self.periodSeconds : 1, has(self.successThreshold) ? self.successThreshold : 1, has(self.failureThreshold) ? self.failureThreshold : 1].all(n, n >= 0)",message="spec.livenessProbe has a negative number: delays, periods and thresholds are 0 or more"
	// +kubebuilder:validation:XValidation:rule="!has(self.successThreshold) || self.successThreshold <= 1",message="spec.livenessProbe.successThreshold must be 1: remove it"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || (type(self.httpGet.port) == int ? int(self.httpGet.port) >= 1 && int(self.httpGet.port) <= 65535 : string(self.httpGet.port).size() <= 15 && string(self.httpGet.port).matches('^([a-z0-9]+-)*[a-z0-9]+$') && string(self.httpGet.port).matches('[a-z]'))) && (!has(self.tcpSocket) || (type(self.tcpSocket.port) == int ? int(self.tcpSocket.port) >= 1 && int(self.tcpSocket.port) <= 65535 : string(self.tcpSocket.port).size() <= 15 && string(self.tcpSocket.port).matches('^([a-z0-9]+-)*[a-z0-9]+$') && string(self.tcpSocket.port).matches('[a-z]'))) && (!has(self.grpc) || self.grpc.port >= 1 && self.grpc.port <= 65535)",message="spec.livenessProbe has a port that cannot be: write a number from 1 to 65535 or the name of a port of the container, which is 'app' for spec.port"
	// +kubebuilder:validation:XValidation:rule="!has(self.exec) || has(self.exec.command) && self.exec.command.size() > 0",message="spec.livenessProbe.exec needs a command"
	// +kubebuilder:validation:XValidation:rule="!has(self.httpGet) || !has(self.httpGet.scheme) || self.httpGet.scheme in ['HTTP', 'HTTPS', '']",message="spec.livenessProbe.httpGet.scheme must be HTTP or HTTPS"
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`

	// readinessProbe takes the pod out of the Service while it fails.
	// +optional
	// +kubebuilder:validation:XValidation:rule="[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].exists_one(h, h)",message="spec.readinessProbe needs exactly one of exec, httpGet, tcpSocket and grpc"
	// +kubebuilder:validation:XValidation:rule="[has(self.initialDelaySeconds) ? self.initialDelaySeconds : 0, has(self.timeoutSeconds) ? self.timeoutSeconds : 1, has(self.periodSeconds) ? self.periodSeconds : 1, has(self.successThreshold) ? self.successThreshold : 1, has(self.failureThreshold) ? self.failureThreshold : 1].all(n, n >= 0)",message="spec.readinessProbe has a negative number: delays, periods and thresholds are 0 or more"
	// +kubebuilder:validation:XValidation:rule="!has(self.terminationGracePeriodSeconds)",message="spec.readinessProbe.terminationGracePeriodSeconds cannot be: a readiness probe terminates nothing; remove it"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || (type(self.httpGet.port) == int ? int(self.httpGet.port) >= 1 && int(self.httpGet.port) <= 65535 : string(self.httpGet.port).size() <= 15 && string(self.httpGet.port).matches('^([a-z0-9]+-)*[a-z0-9]+$') && string(self.httpGet.port).matches('[a-z]'))) && (!has(self.tcpSocket) || (type(self.tcpSocket.port) == int ? int(self.tcpSocket.port) >= 1 && int(self.tcpSocket.port) <= 65535 : string(self.tcpSocket.port).size() <= 15 && string(self.tcpSocket.port).matches('^([a-z0-9]+-)*[a-z0-9]+$') && string(self.tcpSocket.port).matches('[a-z]'))) && (!has(self.grpc) || self.grpc.port >= 1 && self.grpc.port <= 65535)",message="spec.readinessProbe has a port that cannot be: write a number from 1 to 65535 or the name of a port of the container, which is 'app' for spec.port"
	// +kubebuilder:validation:XValidation:rule="!has(self.exec) || has(self.exec.command) && self.exec.command.size() > 0",message="spec.readinessProbe.exec needs a command"
	// +kubebuilder:validation:XValidation:rule="!has(self.httpGet) || !has(self.httpGet.scheme) || self.httpGet.scheme in ['HTTP', 'HTTPS', '']",message="spec.readinessProbe.httpGet.scheme must be HTTP or HTTPS"
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`

	// startupProbe holds back the other probes until it succeeds.
	// +optional
	// +kubebuilder:validation:XValidation:rule="[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].exists_one(h, h)",message="spec.startupProbe needs exactly one of exec, httpGet, tcpSocket and grpc"
	// +kubebuilder:validation:XValidation:rule="[has(self.initialDelaySeconds) ? self.initialDelaySeconds : 0, has(self.timeoutSeconds) ? self.timeoutSeconds : 1, has(self.periodSeconds) ? self.periodSeconds : 1, has(self.successThreshold) ? self.successThreshold : 1, has(self.failureThreshold) ? self.failureThreshold : 1].all(n, n >= 0)",message="spec.startupProbe has a negative number: delays, periods and thresholds are 0 or more"
	// +kubebuilder:validation:XValidation:rule="!has(self.successThreshold) || self.successThreshold <= 1",message="spec.startupProbe.successThreshold must be 1: remove it"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || (type(self.httpGet.port) == int ? int(self.httpGet.port) >= 1 && int(self.httpGet.port) <= 65535 : string(self.httpGet.port).size() <= 15 && string(self.httpGet.port).matches('^([a-z0-9]+-)*[a-z0-9]+$') && string(self.httpGet.port).matches('[a-z]'))) && (!has(self.tcpSocket) || (type(self.tcpSocket.port) == int ? int(self.tcpSocket.port) >= 1 && int(self.tcpSocket.port) <= 65535 : string(self.tcpSocket.port).size() <= 15 && string(self.tcpSocket.port).matches('^([a-z0-9]+-)*[a-z0-9]+$') && string(self.tcpSocket.port).matches('[a-z]'))) && (!has(self.grpc) || self.grpc.port >= 1 && self.grpc.port <= 65535)",message="spec.startupProbe has a port that cannot be: write a number from 1 to 65535 or the name of a port of the container, which is 'app' for spec.port"
	// +kubebuilder:validation:XValidation:rule="!has(self.exec) || has(self.exec.command) && self.exec.command.size() > 0",message="spec.startupProbe.exec needs a command"
	// +kubebuilder:validation:XValidation:rule="!has(self.httpGet) || !has(self.httpGet.scheme) || self.httpGet.scheme in ['HTTP', 'HTTPS', '']",message="spec.startupProbe.httpGet.scheme must be HTTP or HTTPS"
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`

	// replicas is the number of pods. 0 stops the program. Absent: not owned; an autoscaler or `kubectl scale` decides.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// port is the TCP port that the program listens on and that the Service, if any, offers. The container's port and
	// the Service's port are both named "app".
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// expose asks for a Service of this type. Absent: no Service. It needs port.
	// +optional
	Expose ExposeType `json:"expose,omitempty"`

	// conflictPolicy says what happens to a child while another field manager owns a field of it with a value other than
	// the wanted one. Abort leaves the child as it is. Yield gives up exactly the contested fields, applies all others, and
	// takes each back, without force, as soon as its owner releases it. Either way status.conflicts lists the fields.
	// Absent: Abort.
	// +optional
	ConflictPolicy ConflictPolicy `json:"conflictPolicy,omitempty"`

	// deletionPolicy says what becomes of the children when the Application is deleted. Delete removes them. Orphan keeps
	// them running, without an owner; a finalizer on the Application sees to it. Absent: Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// paused keeps the operator from writing to the children. Status is still reported.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// deployment is a partial Deployment: any of its fields that the other fields of the spec do not offer. It is merged
	// over what they ask for as Server-Side Apply merges, lists by their keys, and only what it names is owned. The main
	// container is called "app". For example:
	//
	//   deployment:
	//     spec:
	//       strategy: {type: Recreate}
	//       template:
	//         spec:
	//           containers:
	//           - name: app
	//             securityContext: {runAsNonRoot: true}
	//           - name: proxy
	//             image: envoy:1.34
	//
	// See `kubectl explain deployment` for the fields. Names, owners, selectors and their labels, and the status are the
	// operator's. A field that another field of the spec sets as well, such as replicas, is an error, as is one that a
	// Deployment does not have: the condition Synced then says Invalid, and nothing is applied.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Deployment *runtime.RawExtension `json:"deployment,omitempty"`

	// service is a partial Service, merged over the one that expose asks for in the same way. It needs expose. The port of
	// spec.port is called "app". For example:
	//
	//   service:
	//     metadata:
	//       annotations: {service.beta.kubernetes.io/aws-load-balancer-scheme: internal}
	//     spec:
	//       externalTrafficPolicy: Local
	//       ports:
	//       - {name: metrics, port: 9090}
	//
	// See `kubectl explain service` for the fields.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Service *runtime.RawExtension `json:"service,omitempty"`
}

// ExposeType is the type of the Service.
//
// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
type ExposeType string

// The types of Service that an Application can ask for.
const (
	ExposeClusterIP    ExposeType = ExposeType(corev1.ServiceTypeClusterIP)
	ExposeNodePort     ExposeType = ExposeType(corev1.ServiceTypeNodePort)
	ExposeLoadBalancer ExposeType = ExposeType(corev1.ServiceTypeLoadBalancer)
)

// ConflictPolicy says what happens to a child that has contested fields.
//
// +kubebuilder:validation:Enum=Abort;Yield
type ConflictPolicy string

const (
	// ConflictAbort leaves a child with contested fields as it is.
	ConflictAbort ConflictPolicy = "Abort"
	// ConflictYield gives up the contested fields and applies all others.
	ConflictYield ConflictPolicy = "Yield"
)

// DeletionPolicy says what becomes of the children of a deleted Application.
//
// +kubebuilder:validation:Enum=Delete;Orphan
type DeletionPolicy string

const (
	// DeletionDelete removes the children with the Application.
	DeletionDelete DeletionPolicy = "Delete"
	// DeletionOrphan leaves the children running.
	DeletionOrphan DeletionPolicy = "Orphan"
)

// ApplicationStatus is what the operator observed.
type ApplicationStatus struct {
	// observedGeneration is the metadata.generation that the rest of the status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase sums up what runs: Pending, Running or Failed. Read the conditions for why.
	// +optional
	Phase ApplicationPhase `json:"phase,omitempty"`

	// message says in a sentence what stands in the way, or that nothing does.
	// +optional
	Message string `json:"message,omitempty"`

	// selector selects the pods, in the form that the scale subresource and autoscalers read.
	// +optional
	Selector string `json:"selector,omitempty"`

	// deploymentStatus is the status of the Deployment as it reports it. Absent: there is no Deployment of this Application,
	// or it has nothing to report.
	// +optional
	DeploymentStatus *appsv1.DeploymentStatus `json:"deploymentStatus,omitempty"`

	// serviceStatus is the status of the Service as it reports it. Absent: there is no Service of this Application, or it
	// has nothing to report, as one without a load balancer.
	// +optional
	ServiceStatus *corev1.ServiceStatus `json:"serviceStatus,omitempty"`

	// conditions are Ready, Synced, Available and, only while true, Stalled. Other controllers may add their own.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// conflicts lists each field that the spec wants and another manager owns with another value, sorted, once for
	// each of its managers. Fields of the Application's own status that another manager holds are listed, too. It never
	// shows a value.
	// +optional
	// +listType=atomic
	Conflicts []FieldConflict `json:"conflicts,omitempty"`
}

// ApplicationPhase sums up what runs.
//
// +kubebuilder:validation:Enum=Pending;Running;Failed
type ApplicationPhase string

const (
	// PhasePending: the wanted pods are not all there yet.
	PhasePending ApplicationPhase = "Pending"
	// PhaseRunning: the Deployment has rolled out and its pods are available.
	PhaseRunning ApplicationPhase = "Running"
	// PhaseFailed: the roll-out is stuck, or the API server refuses what the spec describes.
	PhaseFailed ApplicationPhase = "Failed"
)

// FieldConflict is a field of a child that another field manager owns with a value other than the wanted one.
type FieldConflict struct {
	// kind of the object: Deployment, Service, or Application for a field of the status.
	// +required
	Kind string `json:"kind"`
	// name of the object.
	// +required
	Name string `json:"name"`
	// field is the path of the field, as the API server writes it.
	// +required
	Field string `json:"field"`
	// manager is the field manager that owns the field. It is empty where the API server names none: somebody has scaled to
	// zero, which is operation Update and subresource scale.
	// +required
	Manager string `json:"manager"`
	// operation by which the manager came to own it: Apply or Update.
	// +optional
	Operation metav1.ManagedFieldsOperationType `json:"operation,omitempty"`
	// subresource through which the manager wrote it, for instance scale.
	// +optional
	Subresource string `json:"subresource,omitempty"`
	// apiVersion in which the manager wrote it.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
}
