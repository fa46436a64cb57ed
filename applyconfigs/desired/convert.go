package desired

import (
	"encoding/json"
	"fmt"
)

// convert turns an API object into its apply configuration by way of JSON. The API types' omitempty drops what is not
// set, and quantities come out in their canonical form: 1000m as 1, as the API server will store it.
func convert[To any](from any) (*To, error) {
	raw, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("marshalling %T: %w", from, err)
	}
	to := new(To)
	if err := json.Unmarshal(raw, to); err != nil {
		return nil, fmt.Errorf("unmarshalling %T: %w", to, err)
	}
	return to, nil
}
