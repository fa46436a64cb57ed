package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"mycompany.io/application-operator/applyconfigs/ownership"
	"mycompany.io/application-operator/controllers"
)

// options are the flags of the command.
type options struct {
	metricsAddress string
	metricsSecure  bool
	metricsCertDir string
	webhookAddress string
	webhookCertDir string
	webhookHost    string
	webhookPort    int
	probeAddress   string
	leaderElect    bool
	leaderElection string
	leaseDuration  time.Duration
	renewDeadline  time.Duration
	retryPeriod    time.Duration
	apiQPS         float64
	apiBurst       int
	printVersion   bool
	controller     controllers.Options
	log            zap.Options
}

// parseFlags reads the command line. It writes usage to output only when asked to, with flag.ErrHelp.
func parseFlags(args []string, output io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("application-operator", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	ctrlconfig.RegisterFlags(flags)
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "Address that serves metrics. \"0\" serves none.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", true, "Serve metrics over TLS, to those whose token the API server knows and who may get the path /metrics. False: to everybody, in clear text.")
	flags.StringVar(&o.metricsCertDir, "metrics-cert-dir", "", "Folder of the files tls.crt and tls.key that metrics are served with; new ones are taken up as they come. Empty: a self-signed certificate.")
	flags.StringVar(&o.webhookAddress, "webhook-bind-address", "0", "Address that serves the webhook that warns of what will not take effect. \"0\" serves none.")
	flags.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "Folder of the files tls.crt and tls.key of the webhook; new ones are taken up as they come.")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "Address that serves /healthz and /readyz. \"0\" serves none.")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "Elect a leader among several replicas; only the leader writes.")
	flags.StringVar(&o.leaderElection, "leader-election-namespace", "", "Namespace of the leader election Lease. Empty: the namespace of the pod.")
	flags.DurationVar(&o.leaseDuration, "leader-election-lease-duration", 15*time.Second, "How long a leader that is gone without a word is waited for. Whole seconds.")
	flags.DurationVar(&o.renewDeadline, "leader-election-renew-deadline", 10*time.Second, "How long the leader goes on, and writes, without a renewal of its Lease. Less than the lease duration.")
	flags.DurationVar(&o.retryPeriod, "leader-election-retry-period", 450*time.Millisecond, "How often the leader renews its Lease; the others look at it about as often.")
	flags.IntVar(&o.controller.MaxConcurrentReconciles, "max-concurrent-reconciles", 4, "How many Applications are reconciled at a time.")
	flags.DurationVar(&o.controller.MinBackoff, "min-backoff", 500*time.Millisecond, "Delay before the first retry of a failed reconcile; it doubles with each further failure.")
	flags.DurationVar(&o.controller.MaxBackoff, "max-backoff", time.Minute, "Longest delay between retries of a failed reconcile.")
	flags.DurationVar(&o.controller.ReconciliationTimeout, "reconciliation-timeout", time.Minute, "Longest time that one reconcile may take.")
	flags.Float64Var(&o.apiQPS, "kube-api-qps", 50, "Sustained requests per second to the API server.")
	flags.IntVar(&o.apiBurst, "kube-api-burst", 100, "Requests to the API server that may exceed the rate in a burst.")
	namespaces := flags.String("watch-namespaces", "", "Comma-separated namespaces to watch. Empty: all.")
	selector := flags.String("application-selector", "", "Selector of the labels of the Applications to handle, as for kubectl get --selector. Empty: all.")
	trusted := flags.String("trusted-operator-namespaces", "", "Comma-separated namespaces of other operators, from whose Applications this one stands back wherever these are. Of any other operator it leaves alone the Applications of that operator's own namespace.")
	legacyManagers := flags.String("legacy-field-managers", "", "Comma-separated field managers of older operators. What they created or updated on children, other than by apply, is folded into this operator's ownership.")
	verbosity := flags.Uint("v", 0, "Verbosity of the log: 0 tells what was changed or reported, 1 also what was found to be as wanted, more what the libraries do. The same as --zap-log-level with a number. From 8 on, requests and answers are logged as they are, whatever is in them.")
	flags.BoolVar(&o.printVersion, "version", false, "Print the version and exit.")
	o.log.BindFlags(flags)

	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(output)
			flags.Usage()
		}
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: the operator takes flags only", flags.Arg(0))
	}
	if *verbosity > 0 {
		if err := flags.Set("zap-log-level", strconv.FormatUint(uint64(*verbosity), 10)); err != nil {
			return nil, fmt.Errorf("--v: %w", err)
		}
	}
	var err error
	if o.controller.Scope.Namespaces, err = parseNamespaces("--watch-namespaces", *namespaces); err != nil {
		return nil, err
	}
	if o.controller.TrustedNamespaces, err = parseNamespaces("--trusted-operator-namespaces", *trusted); err != nil {
		return nil, err
	}
	if *selector != "" {
		if o.controller.Scope.Selector, err = labels.Parse(*selector); err != nil {
			return nil, fmt.Errorf("--application-selector: %w", err)
		}
	}
	if o.controller.LegacyFieldManagers, err = parseManagers(*legacyManagers); err != nil {
		return nil, err
	}
	if o.webhookAddress != none {
		if o.webhookHost, o.webhookPort, err = parseAddress(o.webhookAddress); err != nil {
			return nil, fmt.Errorf("--webhook-bind-address: %w", err)
		}
	}
	return o, o.validate()
}

func (o *options) validate() error {
	switch c := &o.controller; {
	case c.MaxConcurrentReconciles < 1:
		return errors.New("--max-concurrent-reconciles must be at least 1")
	case c.MinBackoff <= 0:
		return errors.New("--min-backoff must be positive")
	case c.MaxBackoff < c.MinBackoff:
		return errors.New("--max-backoff must not be less than --min-backoff")
	case c.ReconciliationTimeout <= 0:
		return errors.New("--reconciliation-timeout must be positive")
	case !(o.apiQPS > 0): // NaN, too
		return errors.New("--kube-api-qps must be positive")
	case o.metricsCertDir != "" && !o.metricsSecure:
		return errors.New("--metrics-cert-dir needs --metrics-secure")
	case (o.webhookAddress == none) != (o.webhookCertDir == ""):
		return errors.New("--webhook-bind-address and --webhook-cert-dir need each other")
	case o.leaseDuration < time.Second || o.leaseDuration%time.Second != 0:
		return errors.New("--leader-election-lease-duration must be one or more whole seconds")
	case o.renewDeadline >= o.leaseDuration:
		return errors.New("--leader-election-renew-deadline must be less than --leader-election-lease-duration")
	case float64(o.renewDeadline) <= leaderelection.JitterFactor*float64(o.retryPeriod):
		return fmt.Errorf("--leader-election-renew-deadline must be more than %g times --leader-election-retry-period", leaderelection.JitterFactor)
	case o.retryPeriod <= 0:
		return errors.New("--leader-election-retry-period must be positive")
	case o.apiBurst < 1:
		return errors.New("--kube-api-burst must be at least 1")
	default:
		return nil
	}
}

// none is the address that serves nothing.
const none = "0"

func parseAddress(address string) (host string, port int, err error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	if port, err = strconv.Atoi(number); err != nil || port < 1 || port > math.MaxUint16 {
		return "", 0, fmt.Errorf("%q is no number of a port", number)
	}
	return host, port, nil
}

func parseNamespaces(flagName, list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	namespaces := strings.Split(list, ",")
	for i, name := range namespaces {
		namespaces[i] = strings.TrimSpace(name)
		if problems := validation.IsDNS1123Label(namespaces[i]); len(problems) > 0 {
			return nil, fmt.Errorf("%s: %q is no name of a namespace: %s", flagName, namespaces[i], strings.Join(problems, "; "))
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces), nil
}

// maxManagerName is the API server's limit on the name of a field manager, in characters.
const maxManagerName = 128

func parseManagers(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	managers := strings.Split(list, ",")
	for i, name := range managers {
		managers[i] = strings.TrimSpace(name)
		if managers[i] == "" || utf8.RuneCountInString(managers[i]) > maxManagerName {
			return nil, fmt.Errorf("--legacy-field-managers: %q is no name of a field manager: it has 1 to %d characters", managers[i], maxManagerName)
		}
		if managers[i] == ownership.BeforeFirstApply || managers[i] == ownership.AncientChanges {
			return nil, fmt.Errorf("--legacy-field-managers: %q stands for everybody whose name the API server does not know, so folding it would seize their fields", managers[i])
		}
	}
	return managers, nil
}
