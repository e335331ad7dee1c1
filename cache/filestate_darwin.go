package cache

import "syscall"

func (s *fileState) addSystem(sys any) bool {
	st, ok := sys.(*syscall.Stat_t)
	if !ok {
		return false
	}
	s.ctime, s.inode, s.dev = st.Ctimespec.Nano(), st.Ino, uint64(st.Dev)
	return true
}
