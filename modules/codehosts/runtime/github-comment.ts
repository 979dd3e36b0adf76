/**
 * The `github_comment` target: comments on a pull request or an issue through the code host's command-line client, `gh`.
 *
 * The text is passed on stdin. Repository and number come from a payload and are checked strictly before they become
 * arguments: `gh` would accept a URL there and send our token to another host.
 *
 * A comment ends with a hidden marker. Before a retry whose earlier outcome is unknown, the comments are searched for
 * it, so that nothing is posted twice. A second one says which hookwright has posted it.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Addressed,
  BoundTarget,
  CreateDriver,
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  Driver,
  Probe,
  ProbeOptions,
  ShownDelivery,
} from '../../../runtime/deliver/deliverer.ts';
import { failed, probed, probeFailed } from '../../../runtime/deliver/deliverer.ts';
import { idempotencyKey } from '../../../runtime/deliver/http/link-variant.ts';
import { DeliveryRefusal } from '../../../runtime/deliver/http/values.ts';
import { prepareText } from '../../../runtime/deliver/prepare-text.ts';
import { allowedEnvironment } from '../../../runtime/platform/process/environment.ts';
import type { ProcessRequest, ProcessResult } from '../../../runtime/platform/process/run-process.ts';
import type { TextPlan } from '../../../schemas/generated/types.ts';
import { FAILURES } from './built/gh-failures.ts';
import { isUnchanged } from './posts-driver.ts';

export const createGithubCommentDriver: CreateDriver = (target, context) => new GithubCommentDriver(target, context);

/** The limit is 65,536 characters; this leaves room for the marker. */
const TEXT: TextPlan = {
  limit: 65_000,
  unit: 'utf16',
  overflow: 'split',
  max_pieces: 20,
  numbered: false,
  transforms: ['strip_controls', 'break_commands', 'quiet_mentions'],
};

const TIMEOUT_MS = 60_000;
const MAX_STDOUT_BYTES = 8 * 1024 * 1024;

/** Maximum number of deliveries remembered as not sent. */
const MAX_REMEMBERED = 1000;

class GithubCommentDriver implements Driver {
  private readonly target: BoundTarget;
  private readonly context: DeliveryContext;
  private readonly folder: string;
  /** Keys whose last attempt certainly posted nothing, so that no search is needed. */
  private readonly unsent = new Set<string>();

  constructor(target: BoundTarget, context: DeliveryContext) {
    this.target = target;
    this.context = context;
    this.folder = join(context.homeOf(target.profile), 'gh');
  }

  chatId(request: Addressed): string | null {
    const place = readCommentAddress(request);
    return typeof place === 'string' ? null : `${place.repo}#${place.number}`;
  }

  refusal(request: Addressed): string | null {
    const place = readCommentAddress(request);
    return typeof place === 'string' ? place : null;
  }

  async show(request: DeliveryRequest): Promise<readonly ShownDelivery[]> {
    const { place, comments } = await prepare(request);
    return comments.map((stdin) => ({ kind: 'process', argv: this.commentArgv(place), stdin }));
  }

  async deliver(request: DeliveryRequest): Promise<DeliveryOutcome> {
    const { place, comments } = await prepare(request);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const search = request.first_attempt_at !== null && !this.unsent.has(request.key);
    this.unsent.delete(request.key);
    let url: string | null = null;
    for (let index = request.sent; index < comments.length; index++) {
      const attempt = { place, request, index };
      const outcome = await this.post(attempt, comments[index] ?? '', search && index === request.sent);
      if (outcome.kind !== 'ok') {
        // A failed search does not show what was posted before.
        if (outcome.kind === 'retry' && !search) this.rememberUnsent(request.key);
        return { ...outcome, sent: index };
      }
      url = outcome.message_id;
    }
    return { kind: 'ok', message_id: url, sent: comments.length };
  }

  async probe({ live, signal }: ProbeOptions): Promise<readonly Probe[]> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const found = await this.run([this.program(), '--version'], '', signal);
    if (found.kind !== 'exit' || found.code !== 0) {
      const why = ghOutcome(found);
      return [probeFailed('gh', why.kind === 'ok' ? '' : why.reason, 'install it: https://cli.github.com')];
    }
    const version = probed('gh', stdoutOf(found).split('\n')[0] ?? '');
    // Without --live, this only checks that this machine has a login.
    const argv = live ? ['api', 'user', '--jq=.login'] : ['auth', 'token'];
    const login = ghOutcome(await this.run([this.program(), ...argv], '', signal));
    if (login.kind === 'ok')
      return [version, probed('login', live ? 'accepted by the code host' : 'found on this machine')];
    return [version, probeFailed('login', login.reason, 'gh auth login, or set the `token` of the target')];
  }

  /** Null: the object has the state that the run has read, or the route names none. */
  private async moved(
    { repo, number }: CommentAddress,
    { pins: { fresh } = {}, signal }: DeliveryRequest,
  ): Promise<DeliveryOutcome | null> {
    if (fresh === undefined) return null;
    const [object, value] = fresh.includes(':') ? ['issues', '.updated_at'] : ['pulls', '.head.sha'];
    const argv = [this.program(), 'api', `repos/${repo}/${object}/${number}`, `--jq=${value}`];
    const found = await this.run(argv, '', signal);
    const outcome = ghOutcome(found);
    if (outcome.kind !== 'ok') return { ...outcome, kind: outcome.kind === 'permanent' ? 'permanent' : 'retry' };
    return isUnchanged(stdoutOf(found).trim(), fresh) ? null : failed('superseded', 'superseded');
  }

  private async post(
    { place, request, index }: { place: CommentAddress; request: DeliveryRequest; index: number },
    comment: string,
    search: boolean,
  ): Promise<DeliveryOutcome> {
    if (search) {
      const found = await this.run(this.searchArgv(place), '', request.signal);
      const outcome = ghOutcome(found);
      // A search posts nothing, so it is always safe to retry.
      if (outcome.kind !== 'ok') return { ...outcome, kind: outcome.kind === 'permanent' ? 'permanent' : 'retry' };
      const marker = markerOf(request.key, index);
      if (stdoutOf(found).includes(marker)) return { kind: 'ok', message_id: null, sent: index + 1 };
    }
    const moved = index === 0 ? await this.moved(place, request) : null;
    if (moved !== null) return moved;
    const result = await this.run(this.commentArgv(place), comment, request.signal);
    const outcome = ghOutcome(result);
    if (outcome.kind !== 'ok') return outcome;
    const url = /https:\/\/\S{1,500}/.exec(stdoutOf(result))?.[0] ?? null;
    return { kind: 'ok', message_id: url === null ? null : this.target.redact(url), sent: index + 1 };
  }

  private commentArgv({ repo, number }: CommentAddress): string[] {
    return [this.program(), 'issue', 'comment', `--repo=${repo}`, '--body-file=-', '--', number];
  }

  private searchArgv({ repo, number }: CommentAddress): string[] {
    // Only the account's own comments: the marker of a piece follows from the comment before it.
    const wanted = ['--json=comments', '--jq=.comments[] | select(.viewerDidAuthor != false).body'];
    return [this.program(), 'issue', 'view', `--repo=${repo}`, ...wanted, '--', number];
  }

  private program(): string {
    return this.target.settings.get('command') ?? 'gh';
  }

  private run(argv: readonly string[], stdin: string, signal: AbortSignal): Promise<ProcessResult> {
    const request: ProcessRequest = {
      argv,
      cwd: this.folder,
      env: ghEnvironment(this.target, this.context, this.folder),
      stdin,
      timeoutMs: TIMEOUT_MS,
      maxStdoutBytes: MAX_STDOUT_BYTES,
      signal,
    };
    return this.context.runProcess(request);
  }

  private rememberUnsent(key: string): void {
    if (this.unsent.size >= MAX_REMEMBERED) this.unsent.clear();
    this.unsent.add(key);
  }
}

async function prepare(
  request: DeliveryRequest,
): Promise<{ readonly place: CommentAddress; readonly comments: readonly string[] }> {
  const place = readCommentAddress(request);
  if (typeof place === 'string') throw new DeliveryRefusal(place);
  const pieces = await prepareText(TEXT, request.text);
  if (pieces.kind === 'refused') throw new DeliveryRefusal(pieces.reason);
  const comments = pieces.pieces.map(
    (piece, index) => `${piece}\n\n${markerOf(request.key, index)}\n${ownMarker(request)}`,
  );
  return { place, comments };
}

function markerOf(key: string, index: number): string {
  return `<!-- delivery:${idempotencyKey({ form: 'hex', max_length: 32, window_ms: 0 }, key, index)} -->`;
}

const ownMarker = ({ marker = '' }: DeliveryRequest): string => (marker === '' ? '' : `<!-- ${marker} -->\n`);

function stdoutOf(result: ProcessResult): string {
  return result.kind === 'exit' ? result.stdout.toString('utf8') : '';
}

/** The pull request or issue that a comment goes to, read from a payload's values for the `github_comment` target. */
const OWNER = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:_[A-Za-z0-9]+)?$/;
const REPOSITORY = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;
const NUMBER = /^[1-9][0-9]{0,9}$/;

interface CommentAddress {
  /** `OWNER/REPOSITORY`. */
  readonly repo: string;
  readonly number: string;
}

/** Checks the values strictly, because they become arguments of `gh`. Returns a string that says what is wrong. */
function readCommentAddress({ extra, unresolved }: Addressed): CommentAddress | string {
  for (const name of ['repo', 'pr_number']) {
    if (unresolved.includes(name))
      return `deliver_extra.${name} contains a placeholder that the payload did not resolve`;
    if (!Object.hasOwn(extra, name)) return `deliver_extra.${name} is missing`;
  }
  const [owner = '', name = '', ...more] = (extra.repo ?? '').split('/');
  if (!OWNER.test(owner) || !REPOSITORY.test(name) || more.length > 0)
    return 'deliver_extra.repo must have the form OWNER/REPOSITORY';
  if (!NUMBER.test(extra.pr_number ?? '')) return 'deliver_extra.pr_number must be a number';
  return { repo: `${owner}/${name}`, number: extra.pr_number ?? '' };
}

/** Variables through which `gh` finds the login of `gh auth login`: its configuration, or the keyring on the session bus. */
const MACHINE_LOGIN = [
  'GH_CONFIG_DIR',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'GH_TOKEN',
  'GH_ENTERPRISE_TOKEN',
] as const;

/**
 * With a token of the target, or in a profile other than `default`, `gh` gets `folder` as its empty configuration. Otherwise it
 * uses the login of the user who runs the gateway.
 */
export function ghEnvironment(
  target: Pick<BoundTarget, 'settings' | 'profile'>,
  { env }: Pick<DeliveryContext, 'env'>,
  folder: string,
): Record<string, string | undefined> {
  const token = target.settings.get('token');
  const host = target.settings.get('host');
  const enterprise = host !== undefined && host !== 'github.com' && !host.endsWith('.ghe.com');
  const own = token === undefined ? {} : { [enterprise ? 'GH_ENTERPRISE_TOKEN' : 'GH_TOKEN']: token };
  const machine = Object.fromEntries(MACHINE_LOGIN.map((name) => [name, env[name]]));
  const isolated = { HOME: folder, GH_CONFIG_DIR: folder };
  return {
    // Includes the variables that `gh` needs behind a proxy, also one that intercepts TLS with its own certificate.
    ...allowedEnvironment(env),
    ...(token === undefined && target.profile === 'default' ? machine : isolated),
    ...own,
    ...(host === undefined ? {} : { GH_HOST: host }),
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    NO_COLOR: '1',
  };
}

/** An `ambiguous` outcome is idempotent, because the next attempt searches for the marker first. */
export function ghOutcome(result: ProcessResult): DeliveryOutcome {
  switch (result.kind) {
    case 'spawn_failed':
      return result.code === 'ENOENT'
        ? failed('permanent', 'gh is not installed or not on the PATH of the gateway')
        : failed('retry', `gh could not be started (${result.code})`);
    case 'input_failed':
      return failed('retry', `the text could not be passed to gh: ${result.reason}`);
    case 'timeout':
    case 'aborted':
      return failed('ambiguous', 'gh timed out', { idempotent: true });
    case 'overflow':
      return failed('ambiguous', 'gh wrote too much output', { idempotent: true });
    case 'exit':
      return exitOutcome(result.code, result.stderr);
  }
}

function exitOutcome(code: number | null, stderr: string): DeliveryOutcome {
  if (code === 0) return { kind: 'ok', message_id: null, sent: 0 };
  if (code === 4) {
    return failed('permanent', 'gh has no login: run `gh auth login` or set the `token` of the target');
  }
  // Exit code 1 means any failure.
  const failure = FAILURES.find(({ fits }) => new RegExp(fits, 'i').test(stderr));
  if (failure !== undefined) {
    const { kind, reason, retry_after_ms } = failure;
    return failed(kind, reason, { retry_after_ms, idempotent: kind === 'ambiguous' });
  }
  if (code === null) return failed('ambiguous', 'gh was killed', { idempotent: true });
  return failed('permanent', `gh failed with exit code ${code}`);
}
