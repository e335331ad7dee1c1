package lang

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

func Load(o Options) (*Config, diag.List)                    { panic("todo") }
func Format(filename string, src []byte) ([]byte, diag.List) { panic("todo") }

type Console struct{}

func NewConsole(o Options) (*Console, diag.List)              { panic("todo") }
func (c *Console) Eval(expression string) (string, diag.List) { panic("todo") }

type Expr struct{}

func (e *Expr) Source() string                             { panic("todo") }
func (e *Expr) Eval(self cty.Value) (cty.Value, diag.List) { panic("todo") }

func Schema() []BlockSchema { panic("todo") }
