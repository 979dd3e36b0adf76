/** The document of the pages, which the build has put beside the program. It has no data: those are asked for with the token. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetFolder } from '../../../base/assets.ts';
import type { Answer } from './answer.ts';
import { ApiRefusal } from './answer.ts';

/** What a policy in the document cannot say. The rest of the policy is in it, with the hashes of its script and style. */
const HEADERS = {
  'content-security-policy': "frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

let document: string | null = null;

/** @throws ApiRefusal in a checkout that was not built */
export function pageAnswer(): Answer {
  try {
    document ??= readFileSync(join(assetFolder('console'), 'index.html'), 'utf8');
  } catch {
    throw new ApiRefusal(
      404,
      'not_found',
      'the pages are part of the package: in a checkout, `npm run build` makes them',
    );
  }
  return { status: 200, type: 'text/html; charset=utf-8', text: document, headers: HEADERS };
}
