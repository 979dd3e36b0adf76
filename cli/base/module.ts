/** The door of a module: a plain object that says what it adds to the core. `main/modules.ts` lists them. */
import type { CompilerPart, RepairFiles } from '../../compiler/module.ts';
import type { ControlHandlers } from '../../runtime/control/operations.ts';
import type { RuntimePart } from '../../runtime/module.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import type { OperatedService } from '../../runtime/service/options.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { DamageReport } from '../../runtime/store/queries.ts';
import type { RequestParts } from '../../runtime/verify/request.ts';
import type { FailOn, KeptRequest, RefusedSwap } from '../../schemas/built/operations/types.ts';
import type { RoutePlan, RouteTable, StorePlan } from '../../schemas/generated/types.ts';
import type { ListedCommand } from './command.ts';
import { CliError } from './errors.ts';

/** What is needed to find a store. */
export interface DatabaseContext {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly projectEnv?: string;
  readonly clock: Clock;
}

export type PostgresPlan = Extract<StorePlan, { kind: 'postgres' }>;

/** Where a change of the shared subscriptions is written. If `put` throws, nothing was written. */
export interface SharedText {
  /** The current text, including secrets; null: the database has none yet, and the home's file is used. */
  readonly text: string | null;
  /** False if another gateway's machine was faster: start again from what it wrote. */
  put(next: string): Promise<boolean>;
}

/** The database that several gateways share, for commands. Loaded where `gateway.store` names one. */
export interface DatabaseTools<Context> {
  /** Opens it as a client, which takes no work. Null: it has no tables, and `create` is false. Throws StoreOutOfReach, UnknownStore. */
  open(context: DatabaseContext, plan: PostgresPlan, opening: { readonly create: boolean }): Promise<Store | null>;
  /** Brings the home's copy of the subscriptions up to date; prints a note where the database is away. */
  refreshSubscriptions(context: Context, plan: PostgresPlan): Promise<void>;
  /** Reads the shared subscriptions, to change them. */
  useSubscriptions<T>(
    context: Context,
    plan: PostgresPlan,
    use: (read: () => Promise<SharedText>) => Promise<T>,
  ): Promise<T>;
  /** Prints every gateway that shares the store; an array with `json`. Returns the exit code. */
  showNodes(context: Context, json: boolean): Promise<number>;
  /** Whether the database is usable, durable and keeps up, for `doctor`. Never shows the URL. */
  check(context: Context, plan: PostgresPlan): Promise<readonly Check[]>;
}

/** What is known of senders' payloads, for commands. */
export interface PayloadTools<Context> {
  /** A payload that passes the route's filters and resolves its templates. @param scheme null: not signed @param now Unix ms */
  sample(plan: RoutePlan, event: string | null, scheme: string | null, now: number): Readonly<Record<string, unknown>>;
  /** Adds a sender's events and payload paths to a JSON Schema, for editors. Throws CliError for unknown names. */
  addHints(context: Context, schema: unknown, source: string, events: readonly string[]): Promise<unknown>;
}

export interface SavedRequest {
  /** Identifies it among several requests of a file; empty if it is the only one. */
  readonly label: string;
  readonly parts: RequestParts;
}

/** Reads kept requests with their bodies. @param from their ids, or the beginnings of ids; and all of a route @throws CliError when there is none */
export type ReadKept<Context> = (
  context: Context,
  from: { readonly ids: readonly string[]; readonly route: string | null },
) => Promise<readonly KeptRequest[]>;

/** What is done with kept requests beside commands. Functions throw CliError where that is not possible. */
export interface KeptTools<Context> {
  readonly read: ReadKept<Context>;
  /** Whether the home's file of kept requests was damaged and replaced, for `doctor`. */
  check(context: Context): Check | null;
}

export interface GateContext<Context> extends DatabaseContext {
  readonly modules: readonly Module<Context>[];
  readonly jobs: readonly { readonly id: string }[];
}

/** What `doctor` says of damage of the store's file, and what to do. */
export type CheckDamage = (damage: DamageReport) => Check;

/** Parts that at most one module has. The core loads each where it needs it. */
export interface Parts<Context> {
  readonly database: DatabaseTools<Context>;
  readonly payloads: PayloadTools<Context>;
  readonly kept: KeptTools<Context>;
  readonly damage: CheckDamage;
  /** The result of compiling the repaired files, and these: all changes of one file are one. */
  readonly repair: RepairFiles;
  /** Reads the requests of a file: HAR, or a raw HTTP message. @throws CliError if it is neither */
  readonly saved: (bytes: Buffer) => readonly SavedRequest[];
  /** Refuses a table that treats kept requests differently from the one in `folder`; null: it may be served. */
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
  /** Of the public server; empty before it listens. */
  readonly url: string;
}

type Loaders<Context> = {
  readonly [Name in keyof Parts<Context>]?: () => Promise<Parts<Context>[Name]>;
};

/** A member is absent where the module has no such part. `Context` is what commands receive (context.ts, which has the modules in it). */
export interface Module<Context> extends Loaders<Context> {
  /** The name of its folder. */
  readonly name: string;
  /** What users get for it, in one sentence. */
  readonly summary: string;
  /** Each is loaded when it runs. */
  readonly commands?: readonly ListedCommand<Context>[];
  readonly compiler?: () => Promise<CompilerPart>;
  /** Control operations beside the core's. What they need is loaded when one is called. */
  readonly operations?: () => Promise<(gateway: ServedGateway<Context>) => ControlHandlers>;
  readonly runtime?: RuntimePart;
}

/** What the modules of a program add to its runtime. */
export const runtimeParts = (modules: readonly Pick<Module<never>, 'runtime'>[]): readonly RuntimePart[] =>
  modules.flatMap(({ runtime }) => runtime ?? []);

/** Loads the part of the module that has it. @throws CliError when no module of this program has it */
export function loadPart<Context, Name extends keyof Parts<Context>>(
  modules: readonly Module<Context>[],
  name: Name,
): Promise<Parts<Context>[Name]> {
  for (const module of modules) {
    const load = (module as Loaders<Context>)[name];
    if (load !== undefined) return load();
  }
  throw new CliError(`no module of this program has the part "${name}" that this needs`);
}

/** One check of `hookwright doctor`, of which modules make some. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Check {
  /** Profile it belongs to; null: the gateway as a whole. */
  readonly profile: string | null;
  /** Target or part of the gateway. */
  readonly subject: string;
  readonly check: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** What to do; null when there is nothing to do. */
  readonly fix: string | null;
}

type Gateway = Omit<Check, 'profile' | 'fix'> & { readonly fix?: string };

export const gatewayCheck = ({ fix, ...check }: Gateway): Check => ({ profile: null, ...check, fix: fix ?? null });
