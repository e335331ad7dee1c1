// Problems by solutions. Of a matrix of any size only what is in sight exists.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { cellName, term, type Ask } from '../cells'
import type { Index } from '../data'
import { sign, tone } from '../marks'
import { go, link, replace, type Route } from '../route'
import { score } from '../text'
import { Filters, asked, kept, picked } from './cells'

const spare = 4

interface Grid {
  problems: number[]; solutions: number[] // values of the columns, those that are asked for
  at: Int32Array // the first cell of each pair, row by row; -1 is none
  others: Map<number, number[]> // where a pair has several: all of them
}

function gridOf(x: Index, cells: Int32Array): Grid {
  const { problem, solution } = x.cells
  const order = (values: number[], names: string[]) => {
    const collator = new Intl.Collator('en', { numeric: true })
    return [...new Set(values)].sort((a, b) => collator.compare(names[a], names[b]))
  }
  const problems = order(Array.from(cells, i => problem.at[i]), problem.values), solutions = order(Array.from(cells, i => solution.at[i]), solution.values)
  const row = new Map(problems.map((v, i) => [v, i])), col = new Map(solutions.map((v, i) => [v, i]))
  const at = new Int32Array(problems.length * solutions.length).fill(-1)
  const others = new Map<number, number[]>()
  for (const i of cells) {
    const place = row.get(problem.at[i])! * solutions.length + col.get(solution.at[i])!
    if (at[place] < 0) at[place] = i
    else others.set(place, [...others.get(place) ?? [at[place]], i])
  }
  return { problems, solutions, at, others }
}

export function Matrix({ x, route }: { x: Index; route: Route }) {
  const ask = asked(route)
  const { cells, wrong } = useMemo(() => picked(x, { ...ask, sort: '' }), [x, ask.filter, ask.search, ask.outcome])
  const grid = useMemo(() => gridOf(x, cells), [x, cells])
  const to = (change: Partial<Ask>) => replace(link('matrix', '', kept({ ...ask, ...change })))
  return (
    <div class="fill">
      <Filters x={x} ask={ask} to={to} wrong={wrong} found={cells.length} />
      <Board x={x} grid={grid} filter={ask.filter} />
    </div>)
}

function Board({ x, grid, filter }: { x: Index; grid: Grid; filter: string }) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, left: 0, width: 1200, height: 800 })
  const [active, setActive] = useState<[number, number]>([0, 0])
  const rows = grid.problems.length, cols = grid.solutions.length
  const narrow = view.width < 560
  const head = { width: narrow ? 130 : 220, height: 128 }, size = { width: x.cells.score || grid.others.size > 0 ? 52 : 34, height: 28 }

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
  }, [grid])

  const open = (r: number, c: number) => {
    const place = r * cols + c
    if (grid.at[place] < 0) return
    go(grid.others.has(place)
      ? link('cells', '', { filter: [term('problem', x.cells.problem.values[grid.problems[r]]), term('solution', x.cells.solution.values[grid.solutions[c]])].join(',') })
      : link('cell', cellName(x, grid.at[place]), { filter }))
  }
  const key = (e: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], Home: [0, -cols], End: [0, cols], PageDown: [20, 0], PageUp: [-20, 0] }
    if (e.ctrlKey || e.metaKey || e.altKey) return
    if (e.key === 'Enter') open(...active)
    else if (e.key in steps) {
      const r = Math.max(0, Math.min(rows - 1, active[0] + steps[e.key][0])), c = Math.max(0, Math.min(cols - 1, active[1] + steps[e.key][1]))
      setActive([r, c])
      const el = box.current!
      el.scrollTop = Math.max(r * size.height + size.height - (el.clientHeight - head.height), Math.min(el.scrollTop, r * size.height))
      el.scrollLeft = Math.max(c * size.width + size.width - (el.clientWidth - head.width), Math.min(el.scrollLeft, c * size.width))
    } else return
    e.preventDefault()
  }
  const span = (from: number, room: number, step: number, n: number): number[] => {
    const first = Math.max(0, Math.floor(from / step) - spare), last = Math.min(n, Math.ceil((from + room) / step) + spare)
    return Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i)
  }
  const shownRows = span(view.top, view.height, size.height, rows), shownCols = span(view.left, view.width, size.width, cols)
  return (
    <div class="matrix" ref={box} tabIndex={0} role="grid" aria-label="Problems by solutions" aria-rowcount={rows + 1} aria-colcount={cols + 1} onKeyDown={key}
      aria-activedescendant={rows && cols ? `m-${active[0]}-${active[1]}` : undefined}>
      <div class="board" style={{ width: `${head.width + cols * size.width + 24}px`, height: `${head.height + rows * size.height}px` }}>
        <div class="mhead" role="row" aria-rowindex={1} style={{ height: `${head.height}px` }}>
          <span class="corner" role="columnheader" style={{ width: `${head.width}px` }}>problem</span>
          {shownCols.map(c => {
            const name = x.cells.solution.values[grid.solutions[c]]
            return (
              <span key={c} class="mcol" role="columnheader" aria-colindex={c + 2} style={{ left: `${head.width + c * size.width}px`, width: `${size.width}px` }}>
                <a tabIndex={-1} title={name} href={link('cells', '', { filter: term('solution', name) })}>{name}</a>
              </span>)
          })}
        </div>
        {shownRows.map(r => {
          const name = x.cells.problem.values[grid.problems[r]]
          return (
            <div key={r} class="mrow" role="row" aria-rowindex={r + 2} style={{ top: `${head.height + r * size.height}px`, height: `${size.height}px` }}>
              <span class="mname" role="rowheader" style={{ width: `${head.width}px` }}>
                <a tabIndex={-1} title={name} href={link('cells', '', { filter: term('problem', name) })}>{name}</a>
              </span>
              {shownCols.map(c => <Square key={c} x={x} grid={grid} r={r} c={c} active={active[0] === r && active[1] === c}
                left={head.width + c * size.width} width={size.width} open={() => { setActive([r, c]); open(r, c) }} />)}
            </div>)
        })}
      </div>
      {rows === 0 && <p class="empty">No cell is like that.</p>}
    </div>)
}

function Square({ x, grid, r, c, active, left, width, open }: { x: Index; grid: Grid; r: number; c: number; active: boolean; left: number; width: number; open: () => void }) {
  const place = r * grid.solutions.length + c, i = grid.at[place]
  const style = { left: `${left}px`, width: `${width}px` }
  const id = `m-${r}-${c}`, on = active ? ' active' : ''
  if (i < 0) return <span id={id} class={'square' + on} role="gridcell" aria-colindex={c + 2} style={style} aria-label="not there" />
  const outcome = (i: number) => x.cells.outcome.values[x.cells.outcome.at[i]]
  const all = grid.others.get(place) ?? [i]
  const worst = all.map(outcome).sort((a, b) => x.outcomes.indexOf(b) - x.outcomes.indexOf(a))[0]
  const passed = all.filter(i => outcome(i) === 'passed').length
  const points = x.cells.score?.[i]
  const text = all.length > 1 ? `${sign(worst)} ${passed}/${all.length}` : points != null ? score(points) : sign(worst)
  return (
    <span id={id} class={`square ${tone(worst)}${on}`} role="gridcell" aria-colindex={c + 2} style={style} onClick={open}
      title={`${cellName(x, i)}: ${worst}${all.length > 1 ? `, ${passed} of ${all.length} pass` : ''}`}>{text}</span>)
}
