package controllers

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	trueStatus  = metav1.ConditionTrue
	falseStatus = metav1.ConditionFalse
	unknown     = metav1.ConditionUnknown
)

// maxMessage bounds messages, in bytes. It is the CRD's limit on that of a condition.
const maxMessage = 32768

// state is what a condition says. Its message holds no timestamps, counters or resource versions: it changes only
// when there is something new to say.
type state struct {
	status  metav1.ConditionStatus
	reason  string
	message string
	// stalled: nothing will move on before a person, or another manager, acts.
	stalled bool
}

func (s state) isTrue() bool { return s.status == trueStatus }

// falseOf keeps what is unknown and turns everything else to False.
func falseOf(status metav1.ConditionStatus) metav1.ConditionStatus {
	if status == unknown {
		return unknown
	}
	return falseStatus
}

// conditionSet builds the operator's own conditions. Those of other controllers are not in it: they belong to their
// own field managers.
type conditionSet struct {
	generation int64
	now        time.Time
	previous   []metav1.Condition
	list       []metav1.Condition
}

// set adds a condition. Its transition time is the previous one's as long as the status stays the same.
func (c *conditionSet) set(conditionType string, s state) {
	transition := metav1.NewTime(c.now).Rfc3339Copy()
	if previous := meta.FindStatusCondition(c.previous, conditionType); previous != nil && previous.Status == s.status && !previous.LastTransitionTime.IsZero() {
		transition = previous.LastTransitionTime
	}
	c.list = append(c.list, metav1.Condition{
		Type:               conditionType,
		Status:             s.status,
		ObservedGeneration: c.generation,
		LastTransitionTime: transition,
		Reason:             s.reason,
		Message:            truncate(s.message, maxMessage),
	})
}

// keep adds the previous condition of that type, if there is one.
func (c *conditionSet) keep(conditionType string) {
	if previous := meta.FindStatusCondition(c.previous, conditionType); previous != nil {
		c.list = append(c.list, *previous)
	}
}

// joinSentences joins messages. What the API server or a webhook said in one may end with a full stop of its own.
func joinSentences(messages []string) string {
	sentences := make([]string, 0, len(messages))
	for _, message := range messages {
		sentences = append(sentences, strings.TrimSuffix(message, "."))
	}
	return strings.Join(sentences, ". ")
}

func nonEmpty(message string) []string {
	if message == "" {
		return nil
	}
	return []string{message}
}

// truncate cuts text to at most limit bytes, between characters.
func truncate(text string, limit int) string {
	const more = "…"
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(more)], "") + more
}
