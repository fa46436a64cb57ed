package cluster

import _ "embed" // the default policy

//go:embed audit-policy.yaml
var defaultAuditPolicy string
