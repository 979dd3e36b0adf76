/**
 * Writes `catalog/shapes/`, the shapes of senders' payloads, from published packages. The packages are large, and therefore have
 * a separate package.json: `npm ci --prefix scripts/shapes --ignore-scripts` installs them.
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
// Not a static import, because the packages' types are missing when this repository is checked.
const generator = new URL('shapes/generate.ts', import.meta.url).href;
const { generate } = (await import(generator)) as { generate: (out: string, only: readonly string[]) => void };
generate(OUT, process.argv.slice(2));
