// Renders the shapes of figures, which the program lays out, as elements and files.
import { createElement } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { readSheet, type Drawing, type Figure, type Index, type Shape, type Sheet } from './data'
import { visible } from './text'

/** The attributes of a shape's element, as in report/draw/svg.go. */
function attributes({ k, c, x = 0, y = 0, w = 0, h = 0, r = 0, d, a, t }: Shape): Record<string, string | number> {
  const of: Record<string, string | number> = { class: c ?? '' }
  switch (k) {
    case 'rect': return { ...of, x, y, width: w, height: h }
    case 'line': return { ...of, x1: x, y1: y, x2: x + w, y2: y + h }
    case 'circle': return { ...of, cx: x, cy: y, r }
    case 'path': return { ...of, d: d ?? '' }
  }
  return { ...of, x, y, dy: '.35em', ...a ? { 'text-anchor': a } : {}, ...t ? { transform: `rotate(-90 ${x} ${y})` } : {} }
}

function Drawn({ of, label }: { of: Drawing; label: string }) {
  return (
    <svg class="figure" viewBox={`0 0 ${of.w} ${of.h}`} width={of.w} height={of.h} role="img" aria-label={label}>
      {of.shapes?.map(s => createElement(s.k, attributes(s), s.s, s.o && <title>{s.o}</title>))}
    </svg>)
}

const markup: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (s: string) => visible(s).replace(/[&<>"]/g, c => markup[c])

/** The figure as a file. */
function svg(f: Figure, style: string): string {
  const top = 34, height = top + f.wide.h + 8
  const elements = f.wide.shapes?.map(s => `<${s.k}${Object.entries(attributes(s)).map(([n, v]) => ` ${n}="${escaped(String(v))}"`).join('')}>${escaped(s.s ?? '')}${s.o ? `<title>${escaped(s.o)}</title>` : ''}</${s.k}>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" class="figure" width="${f.wide.w}" height="${height}" viewBox="0 0 ${f.wide.w} ${height}"><title>${escaped(f.title)}</title><desc>${escaped(f.note)}</desc>`
    + `<style>${style}</style><rect class="fback" width="${f.wide.w}" height="${height}"/><text class="ftext strong" x="12" y="18" dy=".35em">${escaped(f.title)}</text><g transform="translate(0 ${top})">${elements?.join('\n')}</g></svg>\n`
}

/** The data as CSV. Spreadsheets must not read texts as formulas. */
function csv(f: Figure): string {
  const field = (s: string) => {
    const inert = /^[=+\-@\t\r]/.test(s) && Number.isNaN(Number(s)) ? "'" + s : visible(s)
    return /[",\r\n]/.test(inert) ? '"' + inert.replaceAll('"', '""') + '"' : inert
  }
  return [f.columns, ...f.rows].map(row => row.map(field).join(',') + '\r\n').join('')
}

export function save(name: string, type: string, content: string) {
  const a = document.createElement('a')
  a.href = URL.createObjectURL(new Blob([content], { type }))
  a.download = name
  a.click()
  setTimeout(() => URL.revokeObjectURL(a.href), 10000)
}

/** Loads the figures of a page; undefined while loading, Error if it fails. */
export function useSheet(x: Index): Sheet | Error | undefined {
  const [sheet, set] = useState<Sheet | Error>()
  useEffect(() => { readSheet(x).then(set, set) }, [x])
  return sheet
}

const small = matchMedia('(max-width: 48rem)')

export function useSmall(): boolean {
  const [is, set] = useState(small.matches)
  useEffect(() => {
    const changed = () => set(small.matches)
    small.addEventListener('change', changed)
    return () => small.removeEventListener('change', changed)
  }, [])
  return is
}

/** Rounds numbers in a text; files contain all digits. */
const short = (s: string) => /^-?\d*\.\d{5,}(e[+-]\d+)?$/.test(s) ? String(Number(Number(s).toPrecision(4))) : s

const mostRows = 500

export function Plot({ f, style }: { f: Figure; style: string }) {
  const [table, setTable] = useState(false)
  const narrow = useSmall(), id = 'f-' + f.name
  return (
    <section class="plot" aria-labelledby={id}>
      <header>
        <h2 id={id}>{f.title}</h2>
        <div class="tools">
          <button aria-expanded={table} onClick={() => setTable(!table)}>Table</button>
          <button onClick={() => save(f.name + '.svg', 'image/svg+xml', svg(f, style))}>SVG</button>
          <button onClick={() => save(f.name + '.csv', 'text/csv', csv(f))}>CSV</button>
        </div>
      </header>
      <Drawn of={narrow ? f.narrow : f.wide} label={`${f.title}. The table contains the same data.`} />
      <p class="note">{f.note}</p>
      {table && <div class="scroll data" tabIndex={0} role="group" aria-label={`Data of: ${f.title}`}><table>
        <thead><tr>{f.columns.map(c => <th>{c.replaceAll('_', ' ')}</th>)}</tr></thead>
        <tbody>{f.rows.slice(0, mostRows).map(row => <tr>{row.map(v => <td>{short(v)}</td>)}</tr>)}</tbody>
      </table>{f.rows.length > mostRows && <p class="note">The first {mostRows} of {f.rows.length} rows. The CSV contains all.</p>}</div>}
    </section>)
}
