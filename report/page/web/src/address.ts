// Matches globs with the addresses of very many cells. Names repeat often in addresses, so the transition of a glob's
// automaton for a name is computed once.
import type { Column, Index } from './data'
import { escape, normalise } from './selector'

const any = '*', one = '?'

/** The automaton of a pattern; creates states on demand. */
class Glob {
  private ids = new Map<string, number>()
  private sets: number[][] = []
  readonly accepts: boolean[] = [] // by state
  readonly dead: boolean[] = [] // by state: rejects regardless of what follows

  constructor(private tokens: string[], private literal = false) {}

  private id(positions: Set<number>): number {
    for (const p of positions) if (!this.literal && this.tokens[p] === any) positions.add(p + 1)
    const set = [...positions].sort((a, b) => a - b), key = set.join()
    let id = this.ids.get(key)
    if (id === undefined) {
      id = this.sets.push(set) - 1
      this.ids.set(key, id)
      this.dead.push(set.length === 0)
      this.accepts.push(set.at(-1) === this.tokens.length || set[0] === -1)
    }
    return id
  }

  readonly start = () => this.id(new Set([0]))

  run(id: number, text: string): number {
    for (const c of text) {
      const next = new Set<number>()
      for (const p of this.sets[id]) {
        if (p < 0 || this.literal && p === this.tokens.length) next.add(-1) // matches regardless of what follows
        else if (!this.literal && this.tokens[p] === any) next.add(p)
        else if (this.tokens[p] === c || !this.literal && this.tokens[p] === one && p < this.tokens.length) next.add(p + 1)
      }
      id = this.id(next)
    }
    return id
  }
}

/** Returns the transitions for a column's values; around adds a prefix or a suffix. */
function runner(glob: Glob, column: Column, around: (value: string) => string): (id: number, at: number) => number {
  const cache: Int32Array[] = [], texts = column.values.map(v => normalise(around(escape(v))))
  return (id, at) => {
    const known = cache[id] ??= new Int32Array(texts.length).fill(-1)
    return known[at] < 0 ? known[at] = glob.run(id, texts[at]) : known[at]
  }
}

/** Returns which addresses of a cell's checkpoint, or of the cell if undefined, match a pattern: bit 1 is aggregate:, bit 2 score:. */
export type Picks = (cell: number, checkpoint?: number) => number

/** As in graph/select.go: a pattern matches the whole address or the part after its kind; what follows the last @ can be omitted; and everything below a match matches. */
export function picks(x: Index, pattern: string): Picks {
  const { problem, solution, backend, repeat } = x.cells, { name } = x.checkpoints
  const chains = [new Glob([...pattern]), new Glob([...pattern, '/'], true)].map((glob, below) => {
    const ofProblem = runner(glob, problem, v => v + '/'), ofName = runner(glob, name, v => v === '' ? '' : v + '/')
    const ofSolution = runner(glob, solution, v => v), ofBackend = runner(glob, backend, v => '@' + v)
    const { accepts, dead } = glob
    const cut = below === 0 && !pattern.includes('@')
    const picked = (start: number, cell: number, checkpoint?: number): boolean => {
      let id = ofProblem(start, problem.at[cell])
      if (dead[id]) return false
      if (checkpoint !== undefined) id = ofName(id, name.at[checkpoint])
      id = ofSolution(id, solution.at[cell])
      if (dead[id]) return false
      if (cut && accepts[id]) return true
      id = ofBackend(id, backend.at[cell])
      return accepts[repeat[cell] > 1 ? glob.run(id, '#' + repeat[cell]) : id]
    }
    const [body, aggregate, score] = ['', 'aggregate:', 'score:'].map(kind => glob.run(glob.start(), kind))
    const also = (start: number) => start !== body && !dead[start] // body covers equal states
    const [ofAggregate, ofScore] = [also(aggregate), also(score)]
    return (cell: number, checkpoint?: number) => picked(body, cell, checkpoint) ? 3
      : (ofAggregate && picked(aggregate, cell, checkpoint) ? 1 : 0) | (ofScore && picked(score, cell, checkpoint) ? 2 : 0)
  })
  return (cell, checkpoint) => {
    const bits = chains[0](cell, checkpoint)
    return bits === 3 ? 3 : bits | chains[1](cell, checkpoint)
  }
}
