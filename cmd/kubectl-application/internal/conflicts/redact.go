package conflicts

import "mycompany.io/application-operator/cmd/kubectl-application/internal/redact"

// Redact hides the values of a conflict about a field that may be secret, and every command that holds one of them.
func (c *Conflict) Redact() {
	if !redact.Hides(c.path) && !redact.Hides(c.against) {
		return
	}
	c.Redacted = true
	if c.Wanted != nil {
		c.Wanted = redact.Hidden
	}
	if c.Live != nil {
		c.Live = redact.Hidden
	}
	for i := range c.Resolutions {
		resolution := &c.Resolutions[i]
		if resolution.holdsValue {
			resolution.Commands = nil
			resolution.Description += " (its command holds a hidden value: see it without --redact)"
		}
	}
}
