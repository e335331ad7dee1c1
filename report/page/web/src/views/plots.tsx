import type { Index } from '../data'
import { Plot, useSheet } from '../figure'
import { link, replace, type Route } from '../route'
import { metrics } from './leaders'

/** The figures of a metric and, if they compare contenders, of an axis. */
export function Plots({ x, route }: { x: Index; route: Route }) {
  const sheet = useSheet(x)
  if (!sheet) return <div class="page"><p class="note" role="status">Reading…</p></div>
  if (sheet instanceof Error) return <div class="page"><p class="wrong" role="alert">{sheet.message}</p></div>
  if (sheet.figures.length === 0) return <div class="page"><p>No results to plot.</p></div>
  const every = (key: 'metric' | 'axis') => [...new Set(sheet.figures.map(f => f[key]).filter(v => v !== undefined))]
  const all = { metric: every('metric'), axis: every('axis') }
  const chosen = (key: 'metric' | 'axis') => all[key].includes(route.params.get(key) ?? '') ? route.params.get(key)! : all[key][0]
  const metric = chosen('metric'), axis = chosen('axis')
  const shown = sheet.figures.filter(f => (f.metric ?? metric) === metric && (f.axis ?? axis) === axis)
  const to = (change: Record<string, string>) => replace(link('plots', '', { metric: metric ?? '', axis: axis ?? '', ...change }))
  return (
    <div class="page">
      <div class="choice">
        {all.metric.length > 1 && <label>Metric <select value={metric} onChange={e => to({ metric: e.currentTarget.value })}>{all.metric.map(m => <option value={m}>{metrics[m]}</option>)}</select></label>}
        {all.axis.length > 1 && <label>Compare <select value={axis} onChange={e => to({ axis: e.currentTarget.value })}>{all.axis.map(a => <option value={a}>{a}</option>)}</select></label>}
        <nav aria-label="Figures">{shown.map(f => <a href={link('plots', '', Object.fromEntries(route.params))} onClick={e => {
          e.preventDefault()
          document.getElementById('f-' + f.name)?.scrollIntoView({ block: 'start' })
        }}>{f.kind}</a>)}</nav>
      </div>
      {shown.map(f => <Plot key={f.name} f={f} style={sheet.style} />)}
    </div>)
}
