/** The address of the view that is shown, and addresses of other views. */
import { useEffect, useState } from 'preact/hooks';

export interface ViewPlace {
  /** Decoded parts of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export interface ViewProps {
  readonly place: ViewPlace;
  /** The second part of the path; empty for a list. */
  readonly id: string;
}

function placeOf(hash: string): ViewPlace {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  return { path: path.split('/').map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Query = Readonly<Record<string, string | null | undefined>>;

/** The address of a view. It always begins with `#`, so that no part can name another scheme. */
export function to(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, value] as [string, string]],
  );
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** The address of a page on another host; null if the text is not one, such as `javascript:`. */
export function webAddress(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : null;
}

/** Changes query parameters of the current view; an empty one is removed. */
export function change({ path, query }: ViewPlace, values: Query): void {
  location.hash = to(path, { ...Object.fromEntries(query), ...values });
}

export function usePlace(): ViewPlace {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const changed = (): void => setPlace(placeOf(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return place;
}
