/** The document of the pages, which the build has put beside the program. It has no data: those are asked for with the token. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetFolder } from '../../../base/assets.ts';
import type { Answer } from './answer.ts';
import { ApiRefusal } from './answer.ts';

/**
 * Its policy, with the hashes of its script and style, is in it; which pages may frame it only a header can say.
 *
 * @throws ApiRefusal in a checkout that was not built
 */
export function readConsolePage(): Answer {
  const text = readDocument();
  const [, policy = "default-src 'none'"] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text) ?? [];
  const headers = { 'content-security-policy': `${policy}; frame-ancestors 'none'` };
  return { status: 200, type: 'text/html; charset=utf-8', text, headers };
}

function readDocument(): string {
  try {
    return readFileSync(join(assetFolder('console'), 'index.html'), 'utf8');
  } catch {
    const where = 'the pages are part of the package: in a checkout, `npm run build` makes them';
    throw new ApiRefusal(404, 'not_found', where);
  }
}
