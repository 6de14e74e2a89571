package forget

// Stop has the service stop behind a step, with an error or for good, as a kill does.
func (s *Service) Stop(f func(step string) error) { s.stopped = f }

// Why is why an order is tried again.
func Why(err error) string { return why(err) }
