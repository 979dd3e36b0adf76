/** The kept requests in a home's file. */

import { CliError } from '../../../../cli/base/errors.ts';
import type { KeptRequest } from '../../../../runtime/intake/kept-request.ts';
import type { NewRequestRow } from '../../../../runtime/store/request-rows.ts';
import { capturePath } from '../../../workbench/runtime/capture/capture-path.ts';
import { openRequests } from '../../../workbench/runtime/capture/open-requests.ts';
import { numberOf } from '../../../workbench/runtime/capture/request-id.ts';

/** Requests read at once: each may have a body of the largest size that is accepted. */
const PAGE = 32;

export interface StoredRequests {
  readonly count: number;
  /** Oldest first. */
  read(): AsyncIterable<readonly NewRequestRow[]>;
}

/** @throws CliError when the file cannot be read */
export async function storedRequests(home: string): Promise<StoredRequests> {
  const path = capturePath(home);
  let count = 0;
  try {
    for await (const page of pages(path)) count += page.length;
  } catch (error) {
    const hint = 'to move the rest without them, give the file another name and run this again';
    throw new CliError(`kept requests: ${path} cannot be read: ${(error as Error).message}`, hint);
  }
  return { count, read: () => pages(path) };
}

async function* pages(path: string): AsyncGenerator<readonly NewRequestRow[]> {
  const requests = openRequests(path);
  try {
    for (let after = ''; ; ) {
      const summaries = await requests.list({}, { limit: PAGE, after });
      const last = summaries.at(-1);
      if (last === undefined) return;
      const found = await Promise.all(summaries.map(({ id }) => requests.load(id)));
      yield found.flatMap((each) => (each.kind === 'found' ? [rowOf(each.request)] : []));
      after = last.id;
    }
  } finally {
    await requests.close();
  }
}

function rowOf({ id, body, ...head }: KeptRequest): NewRequestRow {
  const { profile, route, outcome, reason } = head;
  const bytes = body === null ? null : Buffer.from(body, 'base64');
  return { n: numberOf(id) ?? 0, profile, route, outcome, reason, head: JSON.stringify(head), body: bytes };
}
