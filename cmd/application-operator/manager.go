package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/controllers"
)

// restConfig finds the cluster, as kubectl does, or the one that the operator runs in.
func restConfig(o *options) (*rest.Config, error) {
	config, err := ctrlconfig.GetConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("no configuration of a cluster: set --kubeconfig or KUBECONFIG, or run in a cluster")
	case err != nil:
		return nil, fmt.Errorf("no configuration of a cluster: %w; set --kubeconfig or KUBECONFIG, or run in a cluster", err)
	}
	config.QPS, config.Burst = float32(o.apiQPS), o.apiBurst
	config.UserAgent = "application-operator/" + version
	return config, nil
}

// runManager runs the operator until ctx ends or something fails.
func runManager(ctx context.Context, logger logr.Logger, config *rest.Config, o *options) error {
	if err := checkCertificates(o); err != nil {
		return err
	}
	if err := preflight(ctx, config, o.controller.Scope.Namespaces); err != nil {
		return err
	}
	if err := o.setUpNeighbours(ctx, logger, config); err != nil {
		return err
	}
	mgr, err := newManager(config, logger, o)
	if err != nil {
		return err
	}
	if err := controllers.SetupWithManager(mgr, o.controller); err != nil {
		return fmt.Errorf("setting up the controller: %w", err)
	}
	if o.webhookAddress != none {
		if err := controllers.SetupWarnings(mgr, o.controller); err != nil {
			return fmt.Errorf("setting up the webhook: %w", err)
		}
		if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
			return fmt.Errorf("adding the readiness check: %w", err)
		}
	}
	logger.Info("Starting", "version", version, "server", config.Host, "namespaces", o.controller.Scope.Namespaces, "selector", selectorString(o.controller.Scope.Selector))
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	logger.Info("Stopped")
	return nil
}

func newManager(config *rest.Config, logger logr.Logger, o *options) (ctrl.Manager, error) {
	managerOptions := manager.Options{
		Scheme: newScheme(),
		Logger: logger,
		Cache: cache.Options{
			ByObject:          cacheByObject(o),
			DefaultNamespaces: namespaceCaches(o.controller.Scope.Namespaces),
		},
		Metrics:                       metricsOptions(o),
		HealthProbeBindAddress:        o.probeAddress,
		WebhookServer:                 webhook.NewServer(webhook.Options{Host: o.webhookHost, Port: o.webhookPort, CertDir: o.webhookCertDir}),
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              v1alpha1.LeaseName,
		LeaderElectionNamespace:       o.leaderElection,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &o.leaseDuration,
		RenewDeadline:                 &o.renewDeadline,
		RetryPeriod:                   &o.retryPeriod,
	}
	if o.leaderElect {
		fence := newFence(o.controller.Lease, o.renewDeadline)
		managerOptions.LeaderElectionConfig = fence.observeRenewals(config)
		managerOptions.NewClient = fence.newClient
	}
	mgr, err := ctrl.NewManager(config, managerOptions)
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("adding the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("caches", cachesSynced(mgr.GetCache())); err != nil {
		return nil, fmt.Errorf("adding the readiness check: %w", err)
	}
	return mgr, nil
}

// cacheByObject limits the caches to what the operator handles.
func cacheByObject(o *options) map[client.Object]cache.ByObject {
	byObject := controllers.CacheByObject()
	if o.controller.SeesNeighbours {
		byObject[&coordinationv1.Lease{}] = controllers.LeaseCache()
	}
	if selector := o.controller.Scope.Selector; selector != nil {
		byObject[&v1alpha1.Application{}] = cache.ByObject{Label: selector}
	}
	return byObject
}

func selectorString(selector labels.Selector) string {
	if selector == nil {
		return ""
	}
	return selector.String()
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// namespaceCaches returns nil, which means all, for no namespaces.
func namespaceCaches(namespaces []string) map[string]cache.Config {
	if len(namespaces) == 0 {
		return nil
	}
	configs := make(map[string]cache.Config, len(namespaces))
	for _, namespace := range namespaces {
		configs[namespace] = cache.Config{}
	}
	return configs
}
