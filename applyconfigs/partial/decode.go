package partial

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// decode returns the content as the API server would store it, but for what it defaults: it goes through the kind's Go
// type. It reports what the Go type cannot hold, which the schema does not know: a number that is too great.
func decode(kind Kind, root string, content any) (any, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encoding the partial %s: %w", kind.Kind, err)
	}
	object := kind.New()
	if err := json.Unmarshal(raw, object); err != nil {
		mismatch := &json.UnmarshalTypeError{}
		if errors.As(err, &mismatch) {
			return nil, invalid(Problem{Path: root + "." + mismatch.Field, Message: nameRange(mismatch.Type)})
		}
		return nil, invalid(Problem{Path: root, Message: fmt.Sprintf("it cannot be read as a %s: %v", kind.Kind, err)})
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding the %s: %w", kind.Kind, err)
	}
	var stored any
	if err := utiljson.Unmarshal(encoded, &stored); err != nil {
		return nil, fmt.Errorf("reading the %s again: %w", kind.Kind, err)
	}
	return stored, nil
}

func nameRange(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("it must be a whole number of at most %d bits", t.Bits())
	default:
		return fmt.Sprintf("it must be a %s", t.Kind())
	}
}
