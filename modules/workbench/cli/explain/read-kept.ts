/** The kept request that a command line names. */
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { findRequest, useRequests } from '../use-requests.ts';
import type { KeptParts } from './kept-parts.ts';
import { verifiedParts } from './kept-parts.ts';
import type { ReadRequest } from './read-request.ts';

export interface KeptInput extends KeptParts, ReadRequest {
  readonly route: string;
}

/** @param id or the beginning of one @throws CliError when there is none, or its body was not kept */
export async function readKept(context: CliContext, id: string): Promise<KeptInput> {
  const kept = await useRequests(context, (requests) => findRequest(requests, id));
  const parts = verifiedParts(kept);
  if (parts !== null) return { ...parts, route: kept.route, notes: [] };
  throw new CliError(
    `the body of ${kept.id} was not kept: it had no valid signature`,
    `hookwright requests show ${kept.id} says why`,
  );
}
