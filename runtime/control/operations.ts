/**
 * The operations of a running gateway over its control socket. The gateway implements them and the command line calls
 * them by name; both sides are type-checked against this list.
 */

import type { Catalog, Explanation } from '../../schemas/generated/types.ts';
import type { AnsweredApproval, Approval, ApprovalAnswer, FoundApproval } from '../dispatch/approving.ts';
import type { StopResult } from '../dispatch/dispatcher.ts';
import type { LastingAlert } from '../dispatch/guard.ts';
import type { FoundPrinted, FoundRequest, KeptFilter, KeptPage, KeptSummary } from '../intake/kept-request.ts';
import type { PausedRoute } from '../store/pauses.ts';
import type { DamageReport, DeadWork, LastError, ListFilter } from '../store/queries.ts';
import type { SessionSummary } from '../store/sessions.ts';
import type { ShownState } from '../store/states.ts';
import type { StoreProblem } from '../store/store.ts';
import type { JobReport, RouteReport } from './reports.ts';
import type { StoreOperations } from './store-operations.ts';

/** The input and output of each operation, as JSON. */
export interface ControlContract extends StoreOperations {
  /** Checks that the gateway is alive; answers at once. */
  ping: { input: Record<never, never>; output: { readonly pid: number } };
  status: { input: Record<never, never>; output: GatewayStatus };
  /** Stops the gateway; answers when all work under way has ended or was cancelled. */
  stop: { input: { drain_seconds?: number }; output: StopResult };
  /** Compiles and loads the configuration now. `fail_on`: what the swap is refused for; default: as at the start. */
  reload: { input: { fail_on?: readonly FailOn[] }; output: ReloadReport };
  /** Waits for a limited time for the secret in the handshake of a route's sender; call it again until it has arrived. */
  enroll: { input: { profile: string; route: string }; output: EnrollReport };
  /** Fills in a blueprint and creates its job; also as `POST /blueprints/<key>/jobs`. */
  create_blueprint_job: { input: BlueprintJobRequest; output: BlueprintJobReport };
  /** Lists kept requests, without headers and bodies. */
  requests_list: { input: { filter: KeptFilter; page: KeptPage }; output: readonly KeptSummary[] };
  /** Returns a kept request, by its id or a prefix of it. */
  requests_load: { input: { id: string }; output: FoundRequest };
  /** Sends a kept request through the stages again, as a new request. */
  requests_replay: { input: { id: string }; output: ReplayReport };
  /** Sends a test to where alerts go. `dispatch`: its id; null: the table has no alerts. */
  alerts_test: { input: Record<never, never>; output: { readonly dispatch: string | null } };
  /** The routes of the table and of the subscriptions, sorted by name. */
  routes_list: { input: Record<never, never>; output: readonly RouteReport[] };
  /** Refuses the name of a route or profile that is not there and of which nothing is stored, with the one that may be meant. */
  names_check: { input: { route?: string | undefined; profile?: string | undefined }; output: Record<never, never> };
  /** The jobs of the table and of the store, sorted by name, with the next instants and last runs of each. */
  jobs_list: { input: JobsAsked; output: readonly JobReport[] };
  /** The messages that wait for a person, the oldest first. */
  approvals_list: { input: Record<never, never>; output: readonly Approval[] };
  /** One of them, or one that was answered, by its id or a prefix of it. */
  approvals_show: { input: { id: string }; output: FoundApproval };
  /** Approves or rejects one; what is approved is sent at once. The first answer counts. */
  approvals_answer: { input: { id: string } & ApprovalAnswer; output: AnsweredApproval };
  /** Sends a signed event to a route, as its sender would. */
  route_test: { input: RouteTestRequest; output: RouteTestReport };
  /** Runs a job now, whatever its schedule says. `reference`: an id or a name. */
  job_run: {
    input: { reference: string; profile?: string };
    output: { readonly job: string; readonly dispatch: string };
  };
  /** Sends deliveries again, or runs them again: those named, or the newest of one state. */
  deliveries_replay: { input: ReplayRequest; output: ReplayedDeliveries };
  /** What becomes of a kept request, on the table in service; as `explain --request`, without running a script. */
  request_explain: { input: { id: string }; output: Explanation };
  /** A kept request as `requests show --json` prints it. */
  request_show: { input: { id: string }; output: FoundPrinted };
  /** A kept request as a curl command line, or as a `*.test.yaml` that expects what becomes of it now. */
  request_print: { input: { id: string; form: 'curl' | 'test' }; output: { readonly text: string } };
  /** The sessions of chats, of one profile or of all that are served. */
  chats_list: { input: { profile?: string }; output: readonly ProfileChat[] };
  /** The blueprint catalog, as `GET /blueprints` answers it. */
  blueprints_list: { input: Record<never, never>; output: Catalog };
  /** Prometheus text. */
  metrics: { input: Record<never, never>; output: { content_type: string; text: string } };
}

export type ControlName = keyof ControlContract;

export type ControlHandlers = {
  readonly [Name in ControlName]?: (
    input: ControlContract[Name]['input'],
  ) => ControlContract[Name]['output'] | Promise<ControlContract[Name]['output']>;
};

export interface ProfileChat extends SessionSummary {
  readonly profile: string;
}

export interface JobsAsked {
  /** Only this one: an id, or the name of one or several. */
  readonly id?: string;
  readonly profile?: string;
  /** Only jobs after this one in the order of names. */
  readonly after?: { readonly name: string; readonly id: string };
  readonly limit: number;
}

export interface RouteTestRequest {
  readonly route: string;
  /** Default: the first one that the route accepts. */
  readonly event?: string;
  /** The body. Default: made-up fields that the route's filters and templates read. */
  readonly payload?: string;
  /** Send it although a made-up payload would make messages leave this machine. */
  readonly confirmed?: boolean;
}

export interface RouteTestReport {
  /** Of the answer that the sender would get. */
  readonly status: number;
  readonly answer: string;
  readonly event: string | null;
  readonly payload: string;
}

export interface ReplayRequest {
  readonly ids?: readonly string[];
  /** Without ids: `state` is required. */
  readonly filter?: Omit<ListFilter, 'limit' | 'before' | 'oldest_open'>;
  readonly limit?: number;
  /** Run the agent again even if there is an answer. */
  readonly rerun?: boolean;
  /** Send to all targets, also to those that have got it. */
  readonly again?: boolean;
}

export interface ReplayedDeliveries {
  /** `replay_of` null: the row itself goes on. */
  readonly done: readonly { readonly id: string; readonly replay_of: string | null }[];
  /** Those that were left out, with the reason. */
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}

export interface QuarantinedSubscription {
  readonly name: string;
  readonly reason: string;
}

export interface GatewayStatus extends WorkStatus {
  /** Alerts that have begun and are not over. */
  readonly alerts: readonly LastingAlert[];
  readonly pid: number;
  readonly version: string;
  /** URL of the public server. */
  readonly url: string;
  /** URL of the console; null when there is none. */
  readonly console: string | null;
  /** Unix ms. */
  readonly started_at: number;
  readonly state: 'serving' | 'draining';
  readonly log_file: string | null;
  /** Absolute path of the config that is recompiled on change; null when only tables are served. */
  readonly config: string | null;
  readonly table: {
    /** Absolute path of routes.json. */
    readonly file: string;
    readonly hash: string;
    /** Number of tables served since the start. */
    readonly generation: number;
    /** Unix ms. */
    readonly loaded_at: number;
    readonly routes: number;
    /** Why the newest configuration is not in service; null when it is. */
    readonly error: string | null;
  };
  readonly subscriptions: {
    readonly serving: number;
    readonly quarantined: readonly QuarantinedSubscription[];
    /** Why the current file is not in service; null when it is. */
    readonly error: string | null;
  };
}

/** Work and store. When the store cannot be read, only its problem is known. */
export interface WorkStatus {
  /** Agent runs; null: the store cannot be read. */
  readonly runs: { readonly active: number; readonly queued: number } | null;
  /** Null: the store cannot be read. */
  readonly dispatches: DispatchStatus | null;
  /** Routes that hold their events. */
  readonly paused: readonly PausedRoute[];
  readonly store: StoreStatus;
}

export interface StoreStatus {
  /** Why it cannot be written or read; null when it can. */
  readonly problem:
    | StoreProblem
    | { readonly kind: 'unreadable'; readonly message: string; readonly since: number }
    | null;
  /** Damage found in its file that no operator has dealt with yet; null when there is none. */
  readonly damage: DamageReport | null;
  /** What was found in a shared store and is not used, because its signature is not right; with what to do. */
  readonly refused: readonly string[];
  readonly bytes: number;
}

/** Counts of all dispatches since the store was created. */
export interface DispatchStatus {
  readonly states: Readonly<Record<ShownState, number>>;
  /** Unix ms at which the oldest unfinished one was accepted. */
  readonly oldest_open_at: number | null;
  readonly last_error: LastError | null;
  /** By route and job. */
  readonly dead: readonly DeadWork[];
}

export interface ReplayReport {
  /** Id under which the new request is kept; null when it is not. */
  readonly id: string | null;
  readonly status: number;
  readonly outcome: string;
  /** Body of the answer that a sender would receive. */
  readonly answer: string;
}

/**
 * The result of `Service.enroll`. `waiting`: no secret has arrived yet; `stored`: it was written to `file`; `failed`: see `reason`.
 */
export interface EnrollReport {
  /** Whether the secret has arrived and is stored. */
  readonly kind: 'waiting' | 'stored' | 'failed';
  /** Absolute path of the file with the secret; null unless it was stored. */
  readonly file: string | null;
  /** Why it failed; null unless it did. */
  readonly reason: string | null;
}

export interface ReloadReport {
  readonly ok: boolean;
  /** Whether the table was replaced; false also when the configuration had not changed. */
  readonly changed: boolean;
  /** When the table was loaded that was in service before, in Unix ms. */
  readonly was_loaded_at: number;
  readonly hash: string;
  /** The diagnostics, as `lint` prints them. */
  readonly diagnostics: string;
  /** Why a table without errors was refused; null when it was not. */
  readonly refused: RefusedSwap | null;
  /**
   * With `fail_on`: Unix ms at which the gateway, since the last reload, has loaded a changed table by itself, without a
   * gate; null when it has not.
   */
  readonly taken_ungated_at: number | null;
}

/** Kept requests that a new table would treat differently. `FailOn` says what a swap is refused for. */
export interface RefusedSwap {
  /** Number of requests examined, the newest ones. */
  readonly total: number;
  /** Accepted by the old table and not by the new one, and the reverse. */
  readonly lost: number;
  readonly gained: number;
  /** With a different outcome, prompt or address. */
  readonly changed: number;
  /** The first of these requests. */
  readonly requests: readonly {
    readonly id: string;
    readonly route: string;
    readonly kind: 'lost' | 'gained' | 'changed';
    /** For display: `202 accepted → 200 ignored: filter`. */
    readonly text: string;
  }[];
}

/** `changed` includes everything that is treated differently, also what is lost. */
export const FAIL_ON = ['lost', 'changed'] as const;
export type FailOn = (typeof FAIL_ON)[number];

export interface BlueprintJobRequest {
  readonly key: string;
  /** Values by field name, for all fields. */
  readonly values: Readonly<Record<string, string>>;
  /** Default: the key, with a number appended when that is taken. */
  readonly name?: string;
  /** Default: `default`. */
  readonly profile?: string;
  /** IANA zone. Default: the gateway's. */
  readonly timezone?: string;
  /** The chat in which the job was requested, used for `deliver: origin`. Default: the home channel. */
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
