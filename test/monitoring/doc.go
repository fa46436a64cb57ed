// Package monitoring tests what Prometheus and Grafana are given: the alert rules with Prometheus' own rule unit tests, and
// the queries of the dashboard with its parser. It is a module of its own, so that Prometheus does not weigh on the
// operator's.
package monitoring
