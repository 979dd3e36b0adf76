/** The interface of a module: a plain object with everything it adds to the core. `main/modules.ts` lists the modules. */
import type { CompilerPart, RepairFiles } from '../../compiler/module.ts';
import type { ControlHandlers } from '../../runtime/control/operations.ts';
import type { RuntimePart } from '../../runtime/module.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import type { OperatedService } from '../../runtime/service/options.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { DamageReport } from '../../runtime/store/queries.ts';
import type { StorePart } from '../../runtime/store/store-part.ts';
import type { RequestParts } from '../../runtime/verify/request.ts';
import type { FailOn, KeptRequest, RefusedSwap } from '../../schemas/built/operations/types.ts';
import type { RoutePlan, RouteTable, StorePlan } from '../../schemas/generated/types.ts';
import type { Check } from './check.ts';
import type { ListedCommand } from './command.ts';
import { CliError } from './errors.ts';

/** Context for finding the store. */
export interface DatabaseContext {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly projectEnv?: string;
  readonly clock: Clock;
}

export type PostgresPlan = Extract<StorePlan, { kind: 'postgres' }>;

/** Where a change of the shared subscriptions is written. If `put` throws, nothing was written. */
export interface SharedText {
  /** The current text, including secrets; null if the database has none yet, so that the home's file is used. */
  readonly text: string | null;
  /** Returns false if another machine was faster; read its text and try again. */
  put(next: string): Promise<boolean>;
}

/** `parts`: what modules bring to its changes. */
export interface OpeningDatabase {
  readonly create: boolean;
  readonly parts: readonly StorePart[];
}

/** The database that several gateways share, for commands. Loaded only if `gateway.store` names one. */
export interface DatabaseTools<Context> {
  /** Opens it as a client, which runs no work. Null if it has no tables and `create` is false. Throws StoreOutOfReach, UnknownStore. */
  open(context: DatabaseContext, plan: PostgresPlan, opening: OpeningDatabase): Promise<Store | null>;
  /** Updates the home's copy of the subscriptions; prints a note if the database is unavailable. */
  refreshSubscriptions(context: Context, plan: PostgresPlan): Promise<void>;
  /** Reads the shared subscriptions in order to change them. */
  useSubscriptions<T>(
    context: Context,
    plan: PostgresPlan,
    use: (read: () => Promise<SharedText>) => Promise<T>,
  ): Promise<T>;
  /** Prints every gateway that shares the store; an array with `json`. Returns the exit code. */
  showNodes(context: Context, json: boolean): Promise<number>;
  /** Checks for `doctor` that the database is usable, durable and fast enough. Never shows the URL. */
  check(context: Context, plan: PostgresPlan): Promise<readonly Check[]>;
}

/** Payload shapes of senders, for commands. */
export interface PayloadTools<Context> {
  /** Returns a payload that passes the route's filters and resolves its templates. @param scheme null: not signed @param now Unix ms */
  sample(plan: RoutePlan, event: string | null, scheme: string | null, now: number): Readonly<Record<string, unknown>>;
  /** Adds a sender's events and payload paths to a JSON Schema, for editors. Throws CliError for unknown names. */
  addHints(context: Context, schema: unknown, source: string, events: readonly string[]): Promise<unknown>;
}

export interface SavedRequest {
  /** Identifies it among several requests of a file; empty if it is the only one. */
  readonly label: string;
  readonly parts: RequestParts;
}

/** Reads captured requests with their bodies. @param from ids, or prefixes of ids, and a route @throws CliError if none matches */
export type ReadCaptured<Context> = (
  context: Context,
  from: { readonly ids: readonly string[]; readonly route: string | null },
) => Promise<readonly KeptRequest[]>;

/** Captured requests, for commands of other modules. Functions throw CliError. */
export interface CaptureTools<Context> {
  readonly read: ReadCaptured<Context>;
  /** Reports to `doctor` that the home's file of captured requests was damaged and replaced; null if it was not. */
  check(context: Context): Check | null;
}

export interface GateContext<Context> extends DatabaseContext {
  readonly modules: readonly Module<Context>[];
  readonly jobs: readonly { readonly id: string }[];
}

/** Describes damage of the store's file, and what to do, for `doctor`. */
export type CheckDamage = (damage: DamageReport) => Check;

/** Parts that at most one module has. The core loads each on demand. */
export interface Parts<Context> {
  readonly database: DatabaseTools<Context>;
  readonly payloads: PayloadTools<Context>;
  readonly kept: CaptureTools<Context>;
  readonly damage: CheckDamage;
  /** Runs `--version` of the known programs of agents, for `doctor`. */
  readonly versions: (context: Context, table: RouteTable) => Promise<readonly Check[]>;
  /** Returns the repaired files and the result of compiling them. All changes of one file are one edit. */
  readonly repair: RepairFiles;
  /** Reads the requests of a file: HAR, or a raw HTTP message. @throws CliError if it is neither */
  readonly saved: (bytes: Buffer) => readonly SavedRequest[];
  /** Rejects a table that treats captured requests differently from the one in `folder`; null if it may be served. */
  readonly gate: (
    context: GateContext<Context>,
    failOn: readonly FailOn[],
    folder: string,
    table: RouteTable,
  ) => Promise<RefusedSwap | null>;
}

/** A running gateway, for the operations of its control socket. */
export interface ServedGateway<Context> {
  readonly context: Context;
  readonly service: OperatedService;
  /** The URL of the public server; empty before it listens. */
  readonly url: string;
}

type Loaders<Context> = {
  readonly [Name in keyof Parts<Context>]?: () => Promise<Parts<Context>[Name]>;
};

/** A member is absent if the module has no such part. `Context` is the context of commands (context.ts, which contains the modules). */
export interface Module<Context> extends Loaders<Context> {
  /** The name of its folder. */
  readonly name: string;
  /** A command is loaded when it runs. */
  readonly commands?: readonly ListedCommand<Context>[];
  readonly compiler?: () => Promise<CompilerPart>;
  /** Control operations in addition to the core's. Their dependencies are loaded on the first call. */
  readonly operations?: () => Promise<(gateway: ServedGateway<Context>) => ControlHandlers>;
  readonly runtime?: RuntimePart;
}

/** The runtime parts of the modules. */
export const runtimeParts = (modules: readonly Pick<Module<never>, 'runtime'>[]): readonly RuntimePart[] =>
  modules.flatMap(({ runtime }) => runtime ?? []);

/** Loads a part from the module that has it. @throws CliError if no module has it */
export function loadPart<Context, Name extends keyof Parts<Context>>(
  modules: readonly Module<Context>[],
  name: Name,
): Promise<Parts<Context>[Name]> {
  for (const module of modules) {
    const load = (module as Loaders<Context>)[name];
    if (load !== undefined) return load();
  }
  throw new CliError(`this command needs a module with the part "${name}", which is not installed`);
}
