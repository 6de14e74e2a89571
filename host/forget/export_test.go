package forget

// Stop has the service stop behind a step, with an error or for good, as a kill does.
func (s *Service) Stop(f func(step string) error) { s.stopped = f }
