package cli

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// Factory is what every command is made with: its streams, and the cluster that the flags and the environment choose.
// Nothing is read and nobody is called before a command asks.
type Factory struct {
	genericiooptions.IOStreams
	// Config is kubectl's own set of flags for choosing a cluster, a user and a namespace.
	Config *genericclioptions.ConfigFlags
	// Colour says when output is coloured: auto, always or never.
	Colour Colour
}

// NewFactory returns a factory for these streams.
func NewFactory(streams genericiooptions.IOStreams) *Factory {
	return &Factory{
		IOStreams: streams,
		Config:    genericclioptions.NewConfigFlags(true).WithWarningPrinter(streams),
		Colour:    ColourAuto,
	}
}

// AddFlags adds the flags that all commands have.
func (f *Factory) AddFlags(flags *pflag.FlagSet) {
	f.Config.AddFlags(flags)
	flags.Var(&f.Colour, "color", "When to colour the output: auto (on a terminal, unless NO_COLOR is set), always or never.")
}

// Namespace returns the namespace that the flags, or else the context, choose.
func (f *Factory) Namespace() (string, error) {
	namespace, _, err := f.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("finding the namespace: %w", explainConfig(err))
	}
	return namespace, nil
}

// Client returns a client with the user's rights, which reads without any cache.
func (f *Factory) Client() (*Client, error) {
	namespace, err := f.Namespace()
	if err != nil {
		return nil, err
	}
	config, err := f.Config.ToRESTConfig()
	if err != nil {
		return nil, explainConfig(err)
	}
	config.QPS = -1 // the API server sees to fairness by itself
	config.WarningHandler = rest.NewWarningWriter(f.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	mapper, err := f.Config.ToRESTMapper()
	if err != nil {
		return nil, explainConfig(err)
	}
	kubernetes, err := client.New(config, client.Options{Scheme: Scheme(), Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return &Client{Client: kubernetes, Namespace: namespace}, nil
}

// Scheme knows the kinds of Kubernetes and ours.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}
