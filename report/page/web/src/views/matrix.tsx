// Problems by solutions, as shades and numbers. Only the visible part of the matrix has elements.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { cellName, term, type Ask } from '../cells'
import type { Index } from '../data'
import { sign, tone } from '../marks'
import { go, link, replace, type Route } from '../route'
import { usePrinting } from '../table'
import { percent, score } from '../text'
import { Empty, Filters, asked, kept, picked } from './cells'

const spare = 4, normal = { width: 44, height: 26 }, least = { width: 8, height: 9 }

interface Pair { cells: number[]; problem: number; solution: number } // indices in the heat's order

interface Grid { problems: number[]; solutions: number[]; pairs: Map<number, Pair> }

const placesOf = new WeakMap<Index, { problem: Int32Array; solution: Int32Array; sizes: Map<number, number> }>()

/** The cells in the order of the matrix, and the number of each pair's. */
function places(x: Index) {
  let known = placesOf.get(x)
  if (!known) {
    const order = (names: string[], all: string[]) => {
      const at = new Map(all.map((n, i) => [n, i]))
      return Int32Array.from(names, n => at.get(n) ?? 0)
    }
    known = { problem: order(x.cells.problem.values, x.matrix.problems), solution: order(x.cells.solution.values, x.matrix.solutions), sizes: new Map() }
    for (let i = 0; i < x.cells.repeat.length; i++) {
      const at = known.problem[x.cells.problem.at[i]] * x.matrix.solutions.length + known.solution[x.cells.solution.at[i]]
      known.sizes.set(at, (known.sizes.get(at) ?? 0) + 1)
    }
    placesOf.set(x, known)
  }
  return known
}

function gridOf(x: Index, cells: Int32Array): Grid {
  const { problem, solution } = places(x), pairs = new Map<number, Pair>(), width = x.matrix.solutions.length
  for (const i of cells) {
    const p = problem[x.cells.problem.at[i]], s = solution[x.cells.solution.at[i]], at = p * width + s
    const pair = pairs.get(at)
    if (pair) pair.cells.push(i)
    else pairs.set(at, { cells: [i], problem: p, solution: s })
  }
  const sorted = (of: (p: Pair) => number) => [...new Set([...pairs.values()].map(of))].sort((a, b) => a - b)
  return { problems: sorted(p => p.problem), solutions: sorted(p => p.solution), pairs }
}

/** The result of a pair: a share for the shade, and text. */
function shownOf(x: Index, { cells, problem, solution }: Pair): { share: number | null; text: string; title: string; worst: string } {
  const { outcome, share, score: scores } = x.cells, at = problem * x.matrix.solutions.length + solution
  const of = (i: number) => outcome.values[outcome.at[i]]
  const worst = cells.map(of).sort((a, b) => x.outcomes.indexOf(b) - x.outcomes.indexOf(a))[0]
  const whole = cells.length === places(x).sizes.get(at)
  const name = `${x.matrix.problems[problem]}, ${x.matrix.solutions[solution]}`
  const passed = cells.filter(i => of(i) === 'passed').length
  const missing = whole && at in x.matrix.missing
  if (!whole && cells.length > 1) return { share: passed / cells.length, text: `${passed}/${cells.length}`, title: `${name}: ${passed} of the ${cells.length} cells shown pass`, worst }
  const v = (whole && x.matrix.share ? x.matrix.share[at] : share?.[cells[0]]) ?? null
  if (v === null) return { share: null, text: sign(worst), title: `${name}: ${worst}`, worst }
  const points = cells.length === 1 ? scores?.[cells[0]] : null
  return {
    share: v, text: Math.round(100 * v) + (missing ? '*' : ''), worst,
    title: `${name}: ${points != null ? `score ${score(points)}` : `${percent(v)} %`}, ${cells.length === 1 ? worst : `${passed} of ${cells.length} cells pass`}${missing ? `, ${x.matrix.missing[at]} without a verdict` : ''}`,
  }
}

export function Matrix({ x, route }: { x: Index; route: Route }) {
  const ask = asked(route), size = route.params.get('size') ?? '', turn = route.params.get('turn') ?? ''
  const { cells, wrong } = useMemo(() => picked(x, { ...ask, sort: '' }), [x, ask.filter, ask.search, ask.outcome])
  const grid = useMemo(() => gridOf(x, cells), [x, cells])
  const [said, say] = useState('')
  const to = (change: Partial<Ask> & { size?: string; turn?: string }) => replace(link('matrix', '', { ...kept(ask), size, turn, ...change }))
  return (
    <div class="fill">
      <Filters x={x} ask={ask} to={to} wrong={wrong} found={cells.length} />
      <div class="legend">
        <span class="scale" aria-hidden="true">0 {Array.from({ length: 11 }, (_, n) => <i style={{ background: `var(--f-h${n})` }} />)} 100</span>
        <span class="dim">% of checkpoints, or points</span>
        <button aria-pressed={size === 'full'} onClick={() => to({ size: size === 'full' ? '' : 'full' })}>Full size</button>
        <button aria-pressed={turn === '1'} onClick={() => to({ turn: turn === '1' ? '' : '1' })}>Turn</button>
        <output class="said" aria-live="polite">{said}</output>
      </div>
      <Board x={x} grid={grid} filter={ask.filter} full={size === 'full'} turn={turn === '1'} say={say} clear={() => to({ filter: '', search: '', outcome: '' })} />
    </div>)
}

function Board({ x, grid, filter, full, turn, say, clear }: { x: Index; grid: Grid; filter: string; full: boolean; turn: boolean; say: (s: string) => void; clear: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, left: 0, width: 1200, height: 800 })
  const [active, setActive] = useState<[number, number]>([0, 0])
  const printing = usePrinting()

  useLayoutEffect(() => {
    const el = box.current!
    const measure = () => setView({ top: el.scrollTop, left: el.scrollLeft, width: el.clientWidth, height: el.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(el)
    el.addEventListener('scroll', measure)
    return () => { observer.disconnect(); el.removeEventListener('scroll', measure) }
  }, [])
  useEffect(() => {
    box.current!.scrollTo(0, 0)
    setActive([0, 0])
  }, [grid, turn, full])

  const narrow = view.width < 560
  const longest = (places: number[], names: string[]) => Math.max(...places.slice(0, 200).map(p => names[p].length), 4) * 8 + 28
  const named = useMemo(() => ({ problems: longest(grid.problems, x.matrix.problems), solutions: longest(grid.solutions, x.matrix.solutions) }), [grid])
  /** The orientation in which the whole matrix fits and is readable, if any. */
  const layout = (turned: boolean) => {
    const [rows, cols] = turned ? [grid.solutions, grid.problems] : [grid.problems, grid.solutions]
    const [side, top] = turned ? [named.solutions, named.problems] : [named.problems, named.solutions]
    const head = { width: Math.min(side, narrow ? 120 : 240), height: Math.min(Math.max(top, 60), 150) }
    const fit = (room: number, n: number, most: number, fewest: number) => full ? most : Math.max(fewest, Math.min(most, Math.floor(room / Math.max(1, n))))
    const size = { width: fit(view.width - head.width - 24, cols.length, normal.width, narrow ? normal.width : least.width), height: fit(view.height - head.height - 4, rows.length, normal.height, narrow ? normal.height : least.height) }
    const fits = Math.min((view.width - head.width - 24) / (cols.length * size.width), 1) * Math.min((view.height - head.height) / (rows.length * size.height), 1)
    return { turned, rows, cols, head, size, fits: fits * Math.min(size.width / 12, 1) * Math.min(size.height / 12, 1) }
  }
  const upright = layout(false), across = layout(true)
  const { turned, rows: rowAt, cols: colAt, head, size } = (!full && !narrow && across.fits > upright.fits * 1.05) !== turn ? across : upright
  const rows = rowAt.length, cols = colAt.length, width = x.matrix.solutions.length
  const [rowNames, colNames] = turned ? [x.matrix.solutions, x.matrix.problems] : [x.matrix.problems, x.matrix.solutions]
  const [rowAxis, colAxis] = turned ? ['solution', 'problem'] : ['problem', 'solution']
  const pairAt = (r: number, c: number) => grid.pairs.get(turned ? colAt[c] * width + rowAt[r] : rowAt[r] * width + colAt[c])

  const choose = (r: number, c: number) => {
    setActive([r, c])
    const pair = pairAt(r, c)
    say(pair ? shownOf(x, pair).title : '')
  }
  const open = (r: number, c: number) => {
    const pair = pairAt(r, c)
    if (!pair) return
    go(pair.cells.length > 1
      ? link('cells', '', { filter: [term('problem', x.matrix.problems[pair.problem]), term('solution', x.matrix.solutions[pair.solution])].join(',') })
      : link('cell', cellName(x, pair.cells[0]), { filter }))
  }
  const key = (e: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = { ArrowDown: [1, 0], j: [1, 0], ArrowUp: [-1, 0], k: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], Home: [0, -cols], End: [0, cols], PageDown: [20, 0], PageUp: [-20, 0] }
    if (e.ctrlKey || e.metaKey || e.altKey) return
    if (e.key === 'Enter') open(...active)
    else if (e.key in steps) {
      const r = Math.max(0, Math.min(rows - 1, active[0] + steps[e.key][0])), c = Math.max(0, Math.min(cols - 1, active[1] + steps[e.key][1]))
      choose(r, c)
      const el = box.current!
      el.scrollTop = Math.max(r * size.height + size.height - (el.clientHeight - head.height), Math.min(el.scrollTop, r * size.height))
      el.scrollLeft = Math.max(c * size.width + size.width - (el.clientWidth - head.width), Math.min(el.scrollLeft, c * size.width))
    } else return
    e.preventDefault()
  }
  const span = (from: number, room: number, step: number, n: number): number[] => {
    const first = printing ? 0 : Math.max(0, Math.floor(from / step) - spare), last = printing ? n : Math.min(n, Math.ceil((from + room) / step) + spare)
    return Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i)
  }
  const shownRows = span(view.top, view.height, size.height, rows), shownCols = span(view.left, view.width, size.width, cols)
  const letters = (room: number) => `${Math.min(13, Math.max(8, room - 1))}px`
  const axisLink = (axis: string, name: string) => axis === 'problem' ? link('problem', name) : link('cells', '', { filter: term('solution', name) })
  return (
    <div class="matrix" ref={box} tabIndex={0} role="grid" aria-label="Problems by solutions" aria-rowcount={rows + 1} aria-colcount={cols + 1} onKeyDown={key}
      aria-activedescendant={rows && cols ? `m-${active[0]}-${active[1]}` : undefined}>
      <div class="board" style={{ width: `${head.width + cols * size.width + 20}px`, height: `${head.height + rows * size.height}px` }}>
        <div class="mhead" role="row" aria-rowindex={1} style={{ height: `${head.height}px` }}>
          <span class="corner" role="columnheader" style={{ width: `${head.width}px` }}>{rowAxis}</span>
          {shownCols.map(c => {
            const name = colNames[colAt[c]]
            return (
              <span key={c} class="mcol" role="columnheader" aria-colindex={c + 2} style={{ left: `${head.width + c * size.width}px`, width: `${size.width}px` }}>
                <a tabIndex={-1} title={name} style={{ fontSize: letters(size.width) }} href={axisLink(colAxis, name)}>{name}</a>
              </span>)
          })}
        </div>
        {shownRows.map(r => {
          const name = rowNames[rowAt[r]]
          return (
            <div key={r} class="mrow" role="row" aria-rowindex={r + 2} style={{ top: `${head.height + r * size.height}px`, height: `${size.height}px` }}>
              <span class="mname" role="rowheader" style={{ width: `${head.width}px`, fontSize: letters(size.height), lineHeight: `${size.height}px` }}>
                <a tabIndex={-1} title={name} href={axisLink(rowAxis, name)}>{name}</a>
              </span>
              {shownCols.map(c => <Square key={c} x={x} pair={pairAt(r, c)} id={`m-${r}-${c}`} column={c + 2} active={active[0] === r && active[1] === c}
                left={head.width + c * size.width} width={size.width} lettered={size.width >= 24 && size.height >= 14} point={() => choose(r, c)} open={() => open(r, c)} />)}
            </div>)
        })}
      </div>
      {rows === 0 && <Empty clear={clear} />}
    </div>)
}

function Square({ x, pair, id, column, active, left, width, lettered, point, open }: {
  x: Index; pair?: Pair; id: string; column: number; active: boolean; left: number; width: number; lettered: boolean; point: () => void; open: () => void
}) {
  const on = active ? ' active' : ''
  if (!pair) return <span id={id} class={'square' + on} role="gridcell" aria-colindex={column} style={{ left: `${left}px`, width: `${width}px` }} aria-label="not there" />
  const { share, text, title, worst } = shownOf(x, pair)
  const shade = share === null ? -1 : Math.min(10, Math.round(10 * share))
  const colors = shade < 0 ? {} : { background: `var(--f-h${shade})`, color: `var(--f-on${shade})` }
  return (
    <span id={id} class={`square there${shade < 0 ? ' ' + tone(worst) : ''}${on}`} role="gridcell" aria-colindex={column} aria-label={title}
      style={{ left: `${left}px`, width: `${width}px`, ...colors }} onClick={open} onMouseEnter={point} title={title}>{lettered || shade < 0 && width >= 10 ? text : ''}</span>)
}
