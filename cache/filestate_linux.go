package cache

import "syscall"

func (s *fileState) addSystem(sys any) bool {
	st, ok := sys.(*syscall.Stat_t)
	if !ok {
		return false
	}
	s.ctime, s.inode, s.dev = st.Ctim.Nano(), st.Ino, uint64(st.Dev) //nolint:unconvert // 32 bits on some platforms
	return true
}
