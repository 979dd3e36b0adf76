/**
 * Writes `catalog/shapes/`, what is known of the payloads of the senders, from published packages. They are large, and
 * belong to a package.json of their own: `npm ci --prefix scripts/shapes --ignore-scripts` installs them.
 *
 *     npm run shapes [-- <source>…]
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OUT = fileURLToPath(new URL('../catalog/shapes', import.meta.url));

if (!existsSync(new URL('shapes/node_modules', import.meta.url))) {
  console.error('the packages are not installed: run npm ci --prefix scripts/shapes --ignore-scripts');
  process.exit(1);
}
// Not an import: the types of those packages are not there when this repository is checked.
const generator = new URL('shapes/generate.ts', import.meta.url).href;
const { generate } = (await import(generator)) as { generate: (out: string, only: readonly string[]) => void };
generate(OUT, process.argv.slice(2));
