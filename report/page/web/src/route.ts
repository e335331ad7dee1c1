// The link of the current view: #/VIEW/NAME?key=value.
import { useEffect, useState } from 'preact/hooks'

export interface Route { view: string; name: string; params: URLSearchParams }

export function read(hash: string): Route {
  const [path, query] = split(hash.replace(/^#\/?/, ''), '?')
  const [view, name] = split(path, '/')
  return { view, name: decode(name), params: new URLSearchParams(query) }
}

function split(s: string, at: string): [string, string] {
  const i = s.indexOf(at)
  return i < 0 ? [s, ''] : [s.slice(0, i), s.slice(i + 1)]
}

function decode(s: string): string {
  try { return decodeURIComponent(s) } catch { return s }
}

export function link(view: string, name = '', params: Record<string, string> = {}): string {
  const query = Object.entries(params).filter(([, v]) => v !== '')
  // Leave slashes and @ readable.
  const path = name === '' ? '' : '/' + encodeURIComponent(name).replaceAll('%2F', '/').replaceAll('%40', '@')
  return `#/${view}${path}${query.length ? '?' + new URLSearchParams(query) : ''}`
}

export const go = (to: string) => { location.hash = to }

/** Replaces the link without adding to the history. */
export function replace(to: string) {
  history.replaceState(null, '', to)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

export function useRoute(): Route {
  const [route, set] = useState(() => read(location.hash))
  useEffect(() => {
    const changed = () => set(read(location.hash))
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return route
}
