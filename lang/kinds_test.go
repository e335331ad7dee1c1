package lang_test

import (
	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
)

func init() { lang.TestKinds = kind.Blocks(kinds.All()) }
