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

/** Handlers that log each operation of a person, once it has succeeded. */
export const logged = (handlers: ControlHandlers, log: Pick<Logger, 'info'>): ControlHandlers =>
  Object.fromEntries(
    Object.entries(handlers).map(([operation, handler]) => [
      operation,
      async (input: { readonly by?: string; readonly row?: object }) => {
        const result = await (handler as (input: unknown) => unknown)(input);
        const of = Object.entries({ ...input.row, ...input }).filter(
          ([name, value]) => SUBJECTS.includes(name) && typeof value !== 'object',
        );
        if (input.by !== undefined) log.info({ by: input.by, operation, ...Object.fromEntries(of) }, 'operator action');
        return result;
      },
    ]),
  );

/** Reasons for which a swap of tables can be rejected. */
export const FAIL_ON = ['lost', 'changed'] as const;
