// Where the page is: #/VIEW/NAME?key=value, so that any place can be linked to.
import { useEffect, useState } from 'preact/hooks'

export interface Route { view: string; name: string; params: URLSearchParams }

export function read(hash: string): Route {
  const [path, query] = split(hash.replace(/^#\/?/, ''), '?')
  const [view, name] = split(path, '/')
  return { view, name: decoded(name), params: new URLSearchParams(query) }
}

function split(s: string, at: string): [string, string] {
  const i = s.indexOf(at)
  return i < 0 ? [s, ''] : [s.slice(0, i), s.slice(i + 1)]
}

function decoded(s: string): string {
  try { return decodeURIComponent(s) } catch { return s }
}

export function link(view: string, name = '', params: Record<string, string> = {}): string {
  const given = Object.entries(params).filter(([, v]) => v !== '')
  // Slashes and @ of names may be read.
  const path = name === '' ? '' : '/' + encodeURIComponent(name).replaceAll('%2F', '/').replaceAll('%40', '@')
  return `#/${view}${path}${given.length ? '?' + new URLSearchParams(given) : ''}`
}

export const go = (to: string) => { location.hash = to }

/** Changes the link to the place without a step back to how it was. */
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
