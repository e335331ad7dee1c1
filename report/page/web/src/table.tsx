// A virtual table: only visible rows are elements.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface ColumnOf { key: string; title: ComponentChildren; label: string; width: string; sorts?: boolean; class?: string }

interface Props {
  label: string
  columns: ColumnOf[]
  count: number
  row: (at: number) => { key: string | number; cells: ComponentChildren[]; href: string; class?: string }
  order?: string
  onOrder?: (order: string) => void
  empty: ComponentChildren
  /** More lines of a row, for columns that a narrow table omits. */
  more?: (at: number) => ComponentChildren
  /** Identifies the rows: if it changes, the table scrolls to the top. */
  version: string
}

const spare = 8, mostPrinted = 5000

/** Reports whether the page is being printed, which needs all rows as elements. */
export function usePrinting(): boolean {
  const [is, set] = useState(false)
  useEffect(() => {
    const begin = () => set(true), end = () => set(false)
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    return () => { removeEventListener('beforeprint', begin); removeEventListener('afterprint', end) }
  }, [])
  return is
}

/** Scroll positions to restore when a table is shown again. */
const places = new Map<string, { top: number; active: number }>()

/** The width in pixels of a table with the columns of a class. */
const least: Record<string, number> = { wide: 640, wider: 960 }

export function Table({ label, columns: all, count, row, order = '', onOrder, empty, more, version }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, rows: 40, width: 1280 })
  const [active, setActive] = useState(0)
  const printing = usePrinting(), tall = more !== undefined && view.width < least.wide
  const head = 30, height = tall ? 84 : 30

  useLayoutEffect(() => {
    const measure = () => {
      const el = box.current!, height = more !== undefined && el.clientWidth < least.wide ? 84 : 30
      setView({ top: Math.floor(el.scrollTop / height), rows: Math.ceil(el.clientHeight / height) + 1, width: el.clientWidth })
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  const place = label + version
  useEffect(() => {
    const was = places.get(place)
    box.current!.scrollTop = was?.top ?? 0
    setActive(was?.active ?? 0)
    if (was && document.activeElement === document.body) box.current!.focus({ preventScroll: true })
  }, [place])
  useEffect(() => { places.set(place, { top: places.get(place)?.top ?? 0, active }) }, [active])

  const scroll = () => {
    const top = Math.floor(box.current!.scrollTop / height)
    places.set(place, { top: box.current!.scrollTop, active })
    if (top !== view.top) setView({ ...view, top })
  }
  const move = (to: number) => {
    to = Math.max(0, Math.min(count - 1, to))
    setActive(to)
    const el = box.current!, room = el.clientHeight - head - height
    if (to * height < el.scrollTop) el.scrollTop = to * height
    else if (to * height > el.scrollTop + room) el.scrollTop = to * height - room
  }
  const key = (e: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: view.rows - 2, PageUp: 2 - view.rows, Home: -count, End: count }
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).tagName === 'BUTTON') return
    if (e.key in steps) move(active + steps[e.key])
    else if (e.key === 'Enter' && count > 0) location.hash = row(active).href
    else return
    e.preventDefault()
  }

  const first = printing ? 0 : Math.max(0, view.top - spare), last = printing ? Math.min(count, mostPrinted) : Math.min(count, view.top + view.rows + spare)
  const shownColumns = all.map((_, i) => i).filter(i => (all[i].class ?? '').split(' ').every(name => view.width >= (least[name] ?? 0)))
  const columns = shownColumns.map(i => all[i])
  const linked = columns.findIndex(c => c.class?.startsWith('name')) // its link covers the row
  const template = columns.map(c => c.width).join(' ')
  const shown = []
  for (let at = first; at < last; at++) {
    const r = row(at)
    shown.push(
      <div key={r.key} class={`tr ${r.class ?? ''} ${at === active ? 'active' : ''}`} role="row" aria-rowindex={at + 2} id={`row-${at}`}
        style={{ top: `${head + at * height}px`, height: `${height}px`, gridTemplateColumns: template }} onClick={() => setActive(at)}>
        {shownColumns.map((of, i) => <span role="gridcell" class={columns[i].class}>{i === linked ? <a class="cover" href={r.href} tabIndex={-1}>{r.cells[of]}</a> : r.cells[of]}</span>)}
        {tall && <span role="gridcell" class="more">{more(at)}</span>}
      </div>)
  }
  return (
    <div class="table" ref={box} onScroll={scroll} onKeyDown={key} tabIndex={0} role="grid" aria-label={label} aria-rowcount={count + 1}
      aria-activedescendant={count > 0 ? `row-${active}` : undefined}>
      <div class="rows" style={{ height: `${head + count * height}px` }} role="rowgroup">
        <div class="tr head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {columns.map(c => {
            const sorted = order === c.key ? 'ascending' : order === '-' + c.key ? 'descending' : undefined
            return (
              <span role="columnheader" class={c.class} aria-sort={sorted} title={c.label}>
                {c.sorts && onOrder
                  ? <button aria-label={c.label} onClick={() => onOrder(sorted === 'ascending' ? '-' + c.key : sorted === 'descending' ? '' : c.key)}>
                      {c.title}<span class="sorted" aria-hidden="true">{sorted ? (sorted === 'ascending' ? '▲' : '▼') : ''}</span>
                    </button>
                  : c.title}
              </span>)
          })}
        </div>
        {shown}
      </div>
      {count === 0 && <p class="empty">{empty}</p>}
    </div>)
}
