/** Creates the context in which the routes of a table, or subscriptions over it, are linked. */
import { isLoopback } from '../base/loopback.ts';
import type { RoutePlan, RouteTable, SecretRef } from '../schemas/generated/types.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { loadMarks } from './module.ts';
import { createListOpener } from './table/in-file-set.ts';
import type { LinkContext } from './table/link-context.ts';
import { identityLinker } from './table/link-identity.ts';
import type { RateWindows } from './table/rate-limit.ts';
import { schemeLinker } from './verify/scheme.ts';

export type LinkOptions = Pick<
  GatewayOptions,
  'modules' | 'home' | 'userHome' | 'secrets' | 'capture' | 'files' | 'clock' | 'log'
>;

export interface LinkInput {
  readonly table: RouteTable;
  /** The routes that are linked. */
  readonly plans: readonly RoutePlan[];
  /** Their references, and those of the table. */
  readonly refs: readonly SecretRef[];
  /** The host on which the server listens. */
  readonly host: string;
  readonly windows: RateWindows;
}

/** Reads the current secrets, and opens lists anew. Rejects with the error of a resolver's check. */
export async function createLinkContext(options: LinkOptions, input: LinkInput): Promise<LinkContext> {
  const { modules, home, userHome, secrets, capture, files, clock, log } = options;
  const { table, plans, refs, host, windows } = input;
  const listFiles = {
    stat: (path: string) => {
      const found = files.stat(path);
      if (found === undefined) throw new Error(`${path} is missing`);
      return found;
    },
    read: files.readText,
  };
  return {
    home,
    secrets: await secrets(refs, host),
    windows,
    marks: await loadMarks(modules, plans),
    linkScheme: schemeLinker(),
    linkIdentity: identityLinker(table),
    openList: createListOpener({ home, userHome, files: listFiles, clock, log }),
    loopback: isLoopback(host),
    capture: capture ?? null,
  };
}
