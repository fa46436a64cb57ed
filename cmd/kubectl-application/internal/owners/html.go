package owners

import "errors"

func (o *options) writePage([]*subject) error { return errors.New("x") }
