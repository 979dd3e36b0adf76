/**
 * The operations of a running gateway over its control socket. `operations.yaml` of `schemas/` and of modules describe them;
 * the gateway implements them, and commands and the console call them by name.
 */
import type { ControlContract, OperationOwners } from '../../schemas/built/operations/types.ts';
import type { Logger } from '../platform/log.ts';

export type ControlName = keyof ControlContract;

type AllHandlers = {
  readonly [Name in ControlName]: (
    input: ControlContract[Name]['input'],
  ) => ControlContract[Name]['output'] | Promise<ControlContract[Name]['output']>;
};

export type ControlHandlers = Partial<AllHandlers>;

/** The handlers of the core, or of a module: all that its `operations.yaml` describes. */
export type HandlersOf<Owner extends keyof OperationOwners> = Pick<AllHandlers, OperationOwners[Owner]>;

/** The members of an input that say what an operation was about. */
const SUBJECTS = ['kind', 'id', 'job', 'profile', 'reference', 'route', 'paused', 'approve', 'key', 'expect'];

type AnyInput = { readonly by?: string; readonly row?: object; readonly dry_run?: boolean };
type AnyHandler = (input?: AnyInput) => unknown;

/** A handler that changed nothing returns false, or a `kind` that says why not; a check of a change is none. */
function hasChanged(input: AnyInput | undefined, result: unknown): boolean {
  const { kind = 'stored' } = (result ?? {}) as { readonly kind?: unknown };
  return input?.dry_run !== true && result !== false && (kind === 'stored' || kind === 'answered');
}

/** Handlers that log each operation of a person, once it has changed something. */
export function logged(handlers: ControlHandlers, log: Pick<Logger, 'info'>): ControlHandlers {
  const run = (operation: string, handler: AnyHandler): AnyHandler => {
    return async (input) => {
      const result = await handler(input);
      if (!hasChanged(input, result)) return result;
      const { by, row, ...of } = { ...input?.row, ...input };
      const about = Object.entries(of).filter(([name, value]) => SUBJECTS.includes(name) && typeof value !== 'object');
      if (by !== undefined) log.info({ by, operation, ...Object.fromEntries(about) }, 'operator action');
      return result;
    };
  };
  const all = Object.entries(handlers as Record<string, AnyHandler>);
  return Object.fromEntries(all.map(([name, handler]) => [name, run(name, handler)]));
}

/** Reasons for which a swap of tables can be rejected. */
export const FAIL_ON = ['lost', 'changed'] as const;
