package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"mycompany.io/application-operator/apis/application/v1alpha1"
	"mycompany.io/application-operator/applyconfigs/desired"
	"mycompany.io/application-operator/applyconfigs/ownership"
)

// wanted is what one generation of an Application wants of its children.
type wanted struct {
	uid        types.UID
	generation int64

	// intents holds an intent for each child that is wanted, by kind.
	intents map[string]*ownership.Intent
	// err is why there are no intents.
	err error
}

// wants remembers, for each Application, what its newest generation wants. To work that out is the dearest part of a
// reconcile that finds nothing to do, and depends on the uid and the spec alone. Intents are immutable.
type wants struct {
	mu   sync.Mutex
	last map[client.ObjectKey]*wanted
}

func newWants() *wants {
	return &wants{last: map[client.ObjectKey]*wanted{}}
}

// of returns what app wants.
func (w *wants) of(childTypes managedfields.TypeConverter, app *v1alpha1.Application) *wanted {
	key := client.ObjectKeyFromObject(app)
	w.mu.Lock()
	last := w.last[key]
	w.mu.Unlock()
	if last != nil && last.uid == app.UID && last.generation == app.Generation {
		return last
	}
	now := &wanted{uid: app.UID, generation: app.Generation}
	now.intents, now.err = buildIntents(childTypes, app)
	w.mu.Lock()
	w.last[key] = now
	w.mu.Unlock()
	return now
}

// forget drops what is remembered for the Application of that key.
func (w *wants) forget(app client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, app)
}

func buildIntents(childTypes managedfields.TypeConverter, app *v1alpha1.Application) (map[string]*ownership.Intent, error) {
	children, err := desired.ForApplication(childTypes, app)
	if err != nil {
		return nil, err
	}
	intents := map[string]*ownership.Intent{}
	for kind, config := range map[string]any{deploymentChild.kind: children.Deployment, serviceChild.kind: children.Service} {
		if config == nil {
			continue
		}
		if intents[kind], err = ownership.NewIntent(childTypes, applier, config); err != nil {
			return nil, err
		}
	}
	return intents, nil
}
