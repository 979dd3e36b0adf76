/** Derives names of routes and variables from names in foreign configs. */

/** Returns a route name that none of these routes has. */
export function routeName(routes: readonly { readonly name: string }[], from: string): string {
  const plain = from
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, 60);
  const taken = new Set(routes.map(({ name }) => name));
  const base = plain === '' ? 'route' : plain;
  if (!taken.has(base)) return base;
  let number = 2;
  while (taken.has(`${base}-${number}`)) number++;
  return `${base}-${number}`;
}

/** Returns `GITHUB_PR_SECRET` for the parts `github-pr` and `secret`. */
export function variableName(...parts: readonly string[]): string {
  const name = parts
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return /^[A-Z]/.test(name) ? name : `HOOK_${name}`;
}

/** Why a route has another name than in the original. */
export const renamed = (name: string): string =>
  `route names consist of lower-case letters, digits, \`-\` and \`_\`: it is now ${name}`;
