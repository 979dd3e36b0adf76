/**
 * A double of a code host: it accepts the comments that gateways post with `gh`, and sends each back as an event to all
 * of them, as the real one does.
 */
import { createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';
import { compileText } from '../../main/compiler.ts';
import type { ProcessRequest, ProcessResult } from '../../runtime/platform/process/run-process.ts';
import type { OperatedService, ServiceOptions } from '../../runtime/service/options.ts';
import { atEnd } from './at-end.ts';
import { recordLog } from './log.ts';
import { createService } from './operated-service.ts';
import { handleAgain } from './send-again.ts';
import { tempDir } from './temp-dir.ts';

export interface Comment {
  readonly repo: string;
  readonly number: number;
  readonly login: string;
  readonly body: string;
}

export interface HostGateway {
  readonly service: OperatedService;
  readonly home: string;
  /** Prompts of its runs, in order. */
  readonly runs: string[];
  readonly log: ReturnType<typeof recordLog>;
}

export class CodeHost {
  /** Comments of gateways and people. */
  readonly comments: Comment[] = [];
  /** The response of each gateway to each event. */
  readonly answers: { readonly gateway: number; readonly status: number; readonly body: Record<string, unknown> }[] =
    [];
  /** Changes a posted comment before it is sent as an event; default: nothing. */
  onPost: (comment: Comment) => Comment = (comment) => comment;
  private readonly gateways: HostGateway[] = [];
  private sending: Promise<unknown> = Promise.resolve();
  private sent = 0;
  /** Maximum number of comments; a test that reaches it has found an endless loop. */
  private readonly most: number;

  constructor(most = 60) {
    this.most = most;
  }

  /** Starts a gateway that posts as `login`. @param yaml its config; `SECRET` is the route's secret */
  async addGateway(
    t: TestContext,
    yaml: string,
    login: string,
    options: Partial<ServiceOptions> = {},
  ): Promise<HostGateway> {
    const home = tempDir(t);
    const env = { SECRET: 'a-secret-of-the-code-host', GH_TOKEN: 'ghp_4f9a1c7e2b8d6035' };
    const { table, diagnostics } = await compileText(yaml, { home, env });
    if (table === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
    const runs: string[] = [];
    const log = recordLog();
    const service = await createService({
      ...{ table, home, env, log },
      agent: ({ prompt }) => {
        runs.push(prompt);
        return `Answer ${runs.length}`;
      },
      run: (request) => this.gh(request, login),
      ...options,
    });
    atEnd(t, () => service.stop({ drainMs: 0 }));
    const gateway = { service, home, runs, log };
    this.gateways.push(gateway);
    service.start();
    return gateway;
  }

  /** A person writes a comment. */
  write(comment: Partial<Comment>): void {
    this.add({ repo: 'octo-org/shop', number: 7, login: 'alice', body: 'What is this?', ...comment });
  }

  /** Resolves when no gateway has pending work, and nothing has arrived since. */
  async quiet(ms = 100): Promise<void> {
    for (let [count, isIdle] = [-1, false]; count !== this.comments.length || !isIdle; ) {
      count = this.comments.length;
      await this.sending;
      await new Promise((resolve) => setTimeout(resolve, ms));
      const lists = this.gateways.map(({ service: { store } }) => store.read({ kind: 'list', filter: { limit: 200 } }));
      // The events of a paused key are due in an hour.
      const soon = Date.now() + 60_000;
      isIdle = (await Promise.all(lists)).flat().every((row) => row.finished_at !== null || (row.ready_at ?? 0) > soon);
    }
  }

  private async gh({ argv, stdin }: ProcessRequest, login: string): Promise<ProcessResult> {
    const repo = argv.find((each) => each.startsWith('--repo='))?.slice('--repo='.length) ?? '';
    this.add(this.onPost({ repo, number: Number(argv.at(-1)), login, body: String(stdin) }));
    const stdout = Buffer.from(`https://github.com/${repo}/issues/1#issuecomment-${this.comments.length}\n`);
    return { kind: 'exit', code: 0, signal: null, stdout, stderr: '' } as ProcessResult;
  }

  private add(comment: Comment): void {
    if (this.comments.length >= this.most) return;
    this.comments.push(comment);
    const id = `delivery-${++this.sent}`;
    this.sending = this.sending.then(() => Promise.all(this.gateways.map((_, at) => this.send(at, comment, id))));
  }

  private async send(at: number, { repo, number, login, body }: Comment, id: string): Promise<void> {
    const payload = {
      action: 'created',
      issue: { number, title: 'An issue', body: 'The text of the issue' },
      comment: { id: this.sent, body, user: { login, type: 'User' } },
      repository: { full_name: repo },
      sender: { login, type: 'User' },
    };
    const text = JSON.stringify(payload);
    const signature = createHmac('sha256', 'a-secret-of-the-code-host').update(text).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'issue_comment',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    };
    const gateway = this.gateways[at];
    if (gateway === undefined) return;
    const request = new Request('http://localhost/webhooks/answers', { method: 'POST', body: text, headers });
    const answer = await handleAgain(gateway.service, request);
    this.answers.push({ gateway: at, status: answer.status, body: (await answer.json()) as Record<string, unknown> });
  }
}
