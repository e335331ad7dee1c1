import { useMemo } from 'preact/hooks'
import { cellName } from '../cells'
import type { Change, Index } from '../data'
import { Mark, sign, tone } from '../marks'
import { go, link, replace, type Route } from '../route'
import { Table } from '../table'
import { count, counted, moved } from '../text'
import { byCause, causeOf, countKinds } from './summary'

const causes = 8

export function Compare({ x, route }: { x: Index; route: Route }) {
  const d = x.differences.find(d => d.before === route.name) ?? x.differences[x.since]
  const kind = route.params.get('kind') ?? '', cause = route.params.get('cause') ?? ''
  const shown = useMemo(() => d?.changes.filter(c => (kind === '' || c.kind === kind) && (cause === '' || causeOf(c) === cause)) ?? [], [d, kind, cause])
  const by = useMemo(() => d ? byCause(d.changes) : [], [d])
  if (!d) return <div class="page"><p>This report contains only one run. <code>fevalgraph report BEFORE AFTER</code> compares two.</p></div>
  const to = (change: Record<string, string>) => replace(link('compare', d.before, { kind, cause, ...change }))
  return (
    <div class="fill">
      <div class="filters compare">
        <label><span>From run</span><select id="before" value={d.before} onChange={e => go(link('compare', e.currentTarget.value))}>
          {[...x.differences].reverse().map(d => <option value={d.before}>{d.before}</option>)}
        </select></label>
        <div class="to"><span class="dim">to</span> {d.after}</div>
        <div class="kinds" role="group" aria-label="Kinds of changes">
          {countKinds(d.changes).map(([k, n]) => (
            <button class={'chip ' + tone(k)} aria-pressed={kind === k} onClick={() => to({ kind: kind === k ? '' : k })}>
              <span aria-hidden="true">{sign(k)}</span> {count(n)} {k}
            </button>))}
          <span class="dim">{count(d.same)} unchanged</span>
        </div>
        <output aria-live="polite">{counted(shown.length, 'change')}</output>
      </div>
      {by.length > 0 && (
        <ul class="causes" aria-label="Changes by cause">
          {by.slice(0, causes).map(([c, all]) => <li><button aria-pressed={cause === c} onClick={() => to({ cause: cause === c ? '' : c })}><b>{count(all.length)}</b> {c}</button></li>)}
          {by.length > causes && <li class="dim">and {counted(by.length - causes, 'other cause')}</li>}
        </ul>)}
      <Table label="Changes" count={shown.length} version={d.before + kind + cause} empty={d.changes.length === 0 ? 'Nothing changed.' : <>No matching changes. <button onClick={() => to({ kind: '', cause: '' })}>Show all changes</button></>}
        more={at => <><span class="said">{causeOf(shown[at])}</span>{testOf(shown[at]) ?? shown[at].name}</>}
        columns={[
          { key: 'kind', title: <span class="hidden">kind</span>, label: 'kind of change', width: '2.2rem' },
          { key: 'name', title: 'checkpoint', label: 'checkpoint', width: 'minmax(9rem, 2fr)', class: 'name' },
          { key: 'move', title: 'verdict', label: 'before and after', width: '8.5rem' },
          { key: 'cause', title: 'cause', label: 'cause of the change', width: 'minmax(8rem, 2fr)', class: 'wide' },
          { key: 'test', title: 'first test', label: 'fails now but not before', width: 'minmax(8rem, 2fr)', class: 'note wider' },
        ]}
        row={at => {
          const c = shown[at]
          return {
            key: c.name, href: c.cell < 0 ? link('compare', d.before) : link('cell', cellName(x, c.cell)),
            cells: [<Mark of={c.kind} />, c.name, moved(c.before, c.after), causeOf(c), testOf(c)],
          }
        }} />
    </div>)
}

const testOf = (c: Change) => c.test ? `${c.test} ${c.said ?? ''}` : c.said
