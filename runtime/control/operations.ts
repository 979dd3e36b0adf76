/**
 * What a running gateway can be asked over its control socket. One line per operation: area code supplies the handlers,
 * the command line calls them by name; both sides are checked against this list.
 */
import type { FoundRequest, KeptFilter, KeptPage, KeptSummary } from '../capture/kept-request.ts';
import type { DamageReport, LastError } from '../store/queries.ts';
import type { DispatchState } from '../store/states.ts';
import type { StoreProblem } from '../store/store.ts';
import type { StoreOperations } from './store-operations.ts';

/** Name → what goes in and what comes out; both are JSON. */
export interface ControlContract extends StoreOperations {
  /** Whether it is alive: answers at once, whatever it is busy with. */
  ping: { input: Record<never, never>; output: { readonly pid: number } };
  status: { input: Record<never, never>; output: GatewayStatus };
  /** Stops the gateway; answers when everything under way is done or given up. */
  stop: { input: { drain_seconds?: number }; output: StopReport };
  /** Compiles and loads the configuration again, now. */
  /** @param fail_on what the swap is refused for; default: what the gateway was started with */
  reload: { input: { fail_on?: readonly FailOn[] }; output: ReloadReport };
  /** Waits a while for the secret that a route's sender sends in its handshake; to be asked again until it came. */
  enroll: { input: { profile: string; route: string }; output: EnrollReport };
  /** Fills a blueprint and makes its job; also as `POST /blueprints/<key>/jobs`. */
  create_blueprint_job: { input: BlueprintJobRequest; output: BlueprintJobReport };
  /** Requests that were kept, without headers and bodies. */
  requests_list: { input: { filter: KeptFilter; page: KeptPage }; output: readonly KeptSummary[] };
  /** One of them, by its id or the beginning of one. */
  requests_load: { input: { id: string }; output: FoundRequest };
  /** Sends one of them through the stages again, as a new request. */
  requests_replay: { input: { id: string }; output: ReplayReport };
  /** Prometheus text. */
  metrics: { input: Record<never, never>; output: { content_type: string; text: string } };
}

export type ControlName = keyof ControlContract;

export type ControlHandlers = {
  readonly [Name in ControlName]?: (
    input: ControlContract[Name]['input'],
  ) => ControlContract[Name]['output'] | Promise<ControlContract[Name]['output']>;
};

export interface QuarantinedSubscription {
  readonly name: string;
  readonly reason: string;
}

export interface GatewayStatus extends WorkStatus {
  readonly pid: number;
  readonly version: string;
  /** Where it listens. */
  readonly url: string;
  /** Where its console listens; null: it has none. */
  readonly console: string | null;
  /** Unix ms. */
  readonly started_at: number;
  readonly state: 'serving' | 'draining';
  readonly log_file: string | null;
  /** Absolute path of the config that is recompiled on change; null: only its tables are served. */
  readonly config: string | null;
  readonly table: {
    /** Absolute path of routes.json. */
    readonly file: string;
    readonly hash: string;
    /** Counts the tables served since the start. */
    readonly generation: number;
    /** Unix ms. */
    readonly loaded_at: number;
    readonly routes: number;
    /** Why the newest configuration is not the one being served; null when it is. */
    readonly error: string | null;
  };
  readonly subscriptions: {
    readonly serving: number;
    readonly quarantined: readonly QuarantinedSubscription[];
    /** Why the file as a whole is not the one being served; null when it is. */
    readonly error: string | null;
  };
}

/** Where the store cannot be read, only its problem is known. */
export interface WorkStatus {
  /** Agent runs; null: the store cannot be read. */
  readonly runs: { readonly active: number; readonly queued: number } | null;
  /** Null: the store cannot be read. */
  readonly dispatches: DispatchStatus | null;
  readonly store: StoreStatus;
}

export interface StoreStatus {
  /** Why it takes no writes, or cannot be read; null while it does and can. */
  readonly problem:
    | StoreProblem
    | { readonly kind: 'unreadable'; readonly message: string; readonly since: number }
    | null;
  /** What was found broken in its file and has not been examined since; null when nothing was. */
  readonly damage: DamageReport | null;
  readonly bytes: number;
}

/** Counts of everything accepted since the store was created. */
export interface DispatchStatus {
  readonly states: Readonly<Record<DispatchState, number>>;
  /** Unix ms at which the oldest unfinished one was accepted. */
  readonly oldest_open_at: number | null;
  readonly last_error: LastError | null;
}

export interface StopReport {
  /** False when the drain's time ended with work still running. */
  readonly drained: boolean;
  /** Runs and deliveries that were interrupted; they resume after the next start. */
  readonly abandoned: number;
}

export interface ReplayReport {
  /** Id under which the new request is kept; null: it is not. */
  readonly id: string | null;
  readonly status: number;
  readonly outcome: string;
  /** Body of the answer that a sender would have got. */
  readonly answer: string;
}

/** `waiting`: nothing came yet. */
export interface EnrollReport {
  readonly kind: 'waiting' | 'stored' | 'failed';
  /** Where the secret was stored; else null. */
  readonly file: string | null;
  readonly reason: string | null;
}

export interface ReloadReport {
  readonly ok: boolean;
  /** The table was replaced; false also when the configuration had not changed. */
  readonly changed: boolean;
  readonly hash: string;
  /** The diagnostics, as `lint` prints them. */
  readonly diagnostics: string;
  /** Why the table was not replaced although it has no errors; else null. */
  readonly refused: RefusedSwap | null;
  /**
   * With `fail_on`: when the gateway has taken a table in by itself since the last reload, without a gate. Unix ms; null:
   * it has not.
   */
  readonly taken_ungated_at: number | null;
}

/** Kept requests of which a new table would make something else. `FailOn` says what a swap is refused for. */
export interface RefusedSwap {
  /** How many were examined: the newest. */
  readonly total: number;
  /** Taken by the old table and not by the new one, and the other way round. */
  readonly lost: number;
  readonly gained: number;
  /** Another outcome, prompt or address. */
  readonly changed: number;
  /** The first of them. */
  readonly requests: readonly {
    readonly id: string;
    readonly route: string;
    readonly kind: 'lost' | 'gained' | 'changed';
    /** For a person: `202 accepted → 200 ignored: filter`. */
    readonly text: string;
  }[];
}

/** `changed` covers everything that is treated differently, including what is lost. */
export const FAIL_ON = ['lost', 'changed'] as const;
export type FailOn = (typeof FAIL_ON)[number];

export interface BlueprintJobRequest {
  /** The blueprint's. */
  readonly key: string;
  /** By field name; every field needs one. */
  readonly values: Readonly<Record<string, string>>;
  /** Default: the key, with a number behind it when that is taken. */
  readonly name?: string;
  /** Default: `default`. */
  readonly profile?: string;
  /** IANA zone. Default: the gateway's. */
  readonly timezone?: string;
  /** The chat it was asked for in, which `deliver: origin` then means. Default: the home channel. */
  readonly origin?: { readonly target: string; readonly chat_id: string; readonly thread_id?: string };
}

export interface BlueprintJobReport {
  readonly id: string;
  readonly name: string;
  readonly schedule: string;
  readonly schedule_human: string;
  readonly timezone: string;
  readonly deliver: readonly string[];
  /** ISO instant; null: never. */
  readonly next_run: string | null;
  readonly warnings: readonly string[];
}
