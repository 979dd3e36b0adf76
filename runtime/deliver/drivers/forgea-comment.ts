/**
 * The `forgea_comment` target: comments on a pull request or an issue through the code host's command-line client, `gh`.
 *
 * The text goes in on stdin. What comes from a payload (repository, number) is checked strictly before it becomes an
 * argument: `gh` would take a URL there and follow it to another host with our token. The environment is an allow-list:
 * with a token of the profile's own, `gh` sees an empty configuration; without one it uses the login of this machine.
 *
 * A comment ends in a hidden marker. Before an attempt that follows one with an unknown outcome, the
 * comments are searched for it, so that a repeat posts nothing twice.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { allowedEnvironment } from '../../platform/process/child-environment.ts';
import type { ProcessRequest, ProcessResult } from '../../platform/process/run-process.ts';
import type { DeliveryOutcome, DeliveryRequest } from '../deliverer.ts';
import type { BoundTarget, CreateDriver, DeliveryContext, Driver, ShownDelivery } from '../driver.ts';
import { idempotencyKey } from '../http/idempotency-key.ts';
import { DeliveryRefusal } from '../http/values.ts';
import type { Probe, ProbeOptions } from '../probe.ts';
import { probed, probeFailed } from '../probe.ts';
import type { Pieces } from '../text/prepare-pieces.ts';
import { preparePieces } from '../text/prepare-pieces.ts';
import { transformText } from '../text/transforms.ts';
import { judgeGh } from './gh-outcome.ts';
import { quietMentions } from './quiet-mentions.ts';

export const createForgeaCommentDriver: CreateDriver = (target, context) => new ForgeaCommentDriver(target, context);

/** 65536 characters are taken; the marker and a little air are left. */
const TEXT = {
  limit: 65_000,
  unit: 'utf16',
  overflow: 'split',
  max_pieces: 20,
  numbered: false,
  transforms: ['strip_controls'],
} as const;

const OWNER = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:_[A-Za-z0-9]+)?$/;
const REPOSITORY = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;
const NUMBER = /^[1-9][0-9]{0,9}$/;

const TIMEOUT_MS = 60_000;
const MAX_STDOUT_BYTES = 8 * 1024 * 1024;

/** How many deliveries are remembered as certainly not sent. */
const MAX_REMEMBERED = 1000;

interface Place {
  readonly repo: string;
  readonly number: string;
}

class ForgeaCommentDriver implements Driver {
  private readonly target: BoundTarget;
  private readonly context: DeliveryContext;
  private readonly folder: string;
  /** Keys whose last attempt certainly posted nothing: no need to search for them. */
  private readonly unsent = new Set<string>();

  constructor(target: BoundTarget, context: DeliveryContext) {
    this.target = target;
    this.context = context;
    this.folder = join(context.homeOf(target.profile), 'gh');
  }

  chatId(request: Pick<DeliveryRequest, 'extra' | 'unresolved'>): string | null {
    const place = readPlace(request);
    return typeof place === 'string' ? null : `${place.repo}#${place.number}`;
  }

  refusal(request: Pick<DeliveryRequest, 'extra' | 'unresolved'>): string | null {
    const place = readPlace(request);
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
        // A search that failed says nothing about what was posted before.
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
      const why = judgeGh(found);
      return [probeFailed('gh', why.kind === 'ok' ? '' : why.reason, 'install it: https://cli.github.com')];
    }
    const version = probed('gh', stdoutOf(found).split('\n')[0] ?? '');
    // Without --live only this machine is asked: whether there is a login at all.
    const argv = live ? ['api', 'user', '--jq=.login'] : ['auth', 'token'];
    const login = judgeGh(await this.run([this.program(), ...argv], '', signal));
    if (login.kind === 'ok') return [version, probed('login', live ? 'accepted by the code host' : 'there is one')];
    return [version, probeFailed('login', login.reason, 'gh auth login, or set the `token` of the target')];
  }

  private async post(
    { place, request, index }: { place: Place; request: DeliveryRequest; index: number },
    comment: string,
    search: boolean,
  ): Promise<DeliveryOutcome> {
    if (search) {
      const found = await this.run(this.searchArgv(place), '', request.signal);
      const judged = judgeGh(found);
      // Nothing was posted by looking: whatever went wrong, looking again is safe.
      if (judged.kind !== 'ok') return { ...judged, kind: judged.kind === 'permanent' ? 'permanent' : 'retry' };
      const marker = markerOf(request.key, index);
      if (stdoutOf(found).includes(marker)) return { kind: 'ok', message_id: null, sent: index + 1 };
    }
    const result = await this.run(this.commentArgv(place), comment, request.signal);
    const judged = judgeGh(result);
    if (judged.kind !== 'ok') return judged;
    const url = /https:\/\/\S{1,500}/.exec(stdoutOf(result))?.[0] ?? null;
    return { kind: 'ok', message_id: url === null ? null : this.target.redact(url), sent: index + 1 };
  }

  private commentArgv({ repo, number }: Place): string[] {
    return [this.program(), 'issue', 'comment', `--repo=${repo}`, '--body-file=-', '--', number];
  }

  private searchArgv({ repo, number }: Place): string[] {
    const wanted = ['--json=comments', '--jq=.comments[].body'];
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

/** Where `gh auth login` has left a login: its configuration, or the keyring that is reached over the session's bus. */
const MACHINE_LOGIN = [
  'GH_CONFIG_DIR',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'GH_TOKEN',
  'GH_ENTERPRISE_TOKEN',
] as const;

/** The whole environment of `gh`. What would redirect it (GH_REPO, GH_DEBUG, GIT_DIR, …) is simply not there. */
function ghEnvironment(
  target: Pick<BoundTarget, 'settings' | 'profile'>,
  { env }: Pick<DeliveryContext, 'env'>,
  folder: string,
): Record<string, string | undefined> {
  const token = target.settings.get('token');
  const host = target.settings.get('host');
  const enterprise = host !== undefined && host !== 'github.com' && !host.endsWith('.ghe.com');
  const own = token === undefined ? {} : { [enterprise ? 'GH_ENTERPRISE_TOKEN' : 'GH_TOKEN']: token };
  // The login of this machine, for the user who runs the gateway; a profile needs its own token.
  const machine = Object.fromEntries(MACHINE_LOGIN.map((name) => [name, env[name]]));
  const isolated = { HOME: folder, GH_CONFIG_DIR: folder };
  return {
    // Behind a proxy, or one that reads TLS with a certificate of its own, gh reaches nothing without these.
    ...allowedEnvironment(env),
    ...(token === undefined && target.profile === 'default' ? machine : isolated),
    ...own,
    ...(host === undefined ? {} : { GH_HOST: host }),
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    NO_COLOR: '1',
  };
}

async function prepare(
  request: DeliveryRequest,
): Promise<{ readonly place: Place; readonly comments: readonly string[] }> {
  const place = readPlace(request);
  if (typeof place === 'string') throw new DeliveryRefusal(place);
  const pieces = await quietPieces(request.text);
  if (pieces.kind === 'refused') throw new DeliveryRefusal(pieces.reason);
  const comments = pieces.pieces.map((piece, index) => `${piece}\n\n${markerOf(request.key, index)}\n`);
  return { place, comments };
}

/** Transformed first: a control character that goes away must not have hidden a mention. */
async function quietPieces(raw: string): Promise<Pieces> {
  const plan = { ...TEXT, transforms: [...TEXT.transforms] };
  const text = transformText(raw, plan.transforms);
  const whole = preparePieces(plan, await quietMentions(text, { whole: true }));
  if (whole.kind !== 'pieces' || whole.pieces.length === 1) return whole;
  return preparePieces(plan, await quietMentions(text, { whole: false }));
}

function markerOf(key: string, index: number): string {
  return `<!-- delivery:${idempotencyKey({ form: 'hex', max_length: 32, window_ms: 0 }, key, index)} -->`;
}

function readPlace({ extra, unresolved }: Pick<DeliveryRequest, 'extra' | 'unresolved'>): Place | string {
  for (const name of ['repo', 'pr_number']) {
    if (unresolved.includes(name)) return `deliver_extra.${name} holds a placeholder that the payload did not resolve`;
    if (!Object.hasOwn(extra, name)) return `deliver_extra.${name} is missing`;
  }
  const [owner = '', name = '', ...more] = (extra.repo ?? '').split('/');
  if (!OWNER.test(owner) || !REPOSITORY.test(name) || more.length > 0)
    return 'deliver_extra.repo is not OWNER/REPOSITORY';
  if (!NUMBER.test(extra.pr_number ?? '')) return 'deliver_extra.pr_number is not a number';
  return { repo: `${owner}/${name}`, number: extra.pr_number ?? '' };
}

function stdoutOf(result: ProcessResult): string {
  return result.kind === 'exit' ? result.stdout.toString('utf8') : '';
}
