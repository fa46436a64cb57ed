package ownership

import (
	"cmp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Managers that the API server itself puts into managedFields.
const (
	// BeforeFirstApply owns, as of the first apply, every field of an object that had no managedFields.
	BeforeFirstApply = "before-first-apply"
	// AncientChanges owns what the oldest Update managers owned, once there are more than ten of them.
	AncientChanges = "ancient-changes"
)

// Manager identifies a field manager as the API server does. The same name with another operation or another
// subresource is another manager, which is why an apply can conflict with an earlier update under its own name.
type Manager struct {
	// Name is what the client sent as fieldManager. The API server accepts any printable text up to 128 characters.
	Name string
	// Operation is Apply for Server-Side Apply and Update for every other write.
	Operation metav1.ManagedFieldsOperationType
	// Subresource is empty for the main resource, else for instance "status" or "scale".
	Subresource string
}

// ScaledToZero stands for whoever set a count to 0 through the scale subresource: the API server then takes the field from
// its owners and gives it to nobody, since a Scale leaves out a count of 0.
var ScaledToZero = Manager{Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale"}

// Applier returns the manager of that name which applies to the main resource.
func Applier(name string) Manager {
	return Manager{Name: name, Operation: metav1.ManagedFieldsOperationApply}
}

// String renders the manager for people: the name quoted, since it may hold anything, then the rest.
func (m Manager) String() string {
	var b strings.Builder
	b.WriteString(strconv.Quote(m.Name))
	if m.Operation != "" {
		b.WriteString(" by " + string(m.Operation))
	}
	if m.Subresource != "" {
		b.WriteString(" through " + strconv.Quote(m.Subresource))
	}
	return b.String()
}

func compareManagers(a, b Manager) int {
	return cmp.Or(
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Operation, b.Operation),
		cmp.Compare(a.Subresource, b.Subresource),
	)
}
