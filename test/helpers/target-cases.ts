/**
 * The requests that every shipped declarative target must send, and how it must read the responses: one entry per
 * variant and form of address. Written from the services' documentation, not from the files under test.
 */
import type { FakeAnswer } from './fake-http.ts';

export interface TargetCase {
  readonly target: string;
  /** Variant, and the form of address if it has several. */
  readonly name: string;
  readonly variant: string;
  /** `{server}` is the fake's URL. Values of secrets contain the word canary. */
  readonly settings: Readonly<Record<string, string>>;
  /** False: a setting contains the whole URL. */
  readonly apiBase?: false;
  readonly extra?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly request: ExpectedRequest;
  readonly ok: readonly FakeAnswer[];
  readonly messageId: string | null;
  readonly auth: readonly FakeAnswer[];
  /** With the wait in ms, null when none is named. */
  readonly rate: readonly (readonly [FakeAnswer, number | null])[];
  readonly permanent: readonly FakeAnswer[];
  readonly ambiguous?: readonly FakeAnswer[];
  /** The service drops a repeat. */
  readonly idempotent: boolean;
  readonly exchange?: ExpectedExchange;
}

/** `KEY` is replaced by the idempotency key, `NOW` by the instant, `SIGN` by the signature, anywhere in a text. */
export interface ExpectedRequest {
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
}

export interface ExpectedExchange {
  readonly request: ExpectedRequest;
  /** `TOKEN` becomes another text for each exchange: canary-1, canary-2, … */
  readonly answer: unknown;
  /** The service's error text for bad credentials. */
  readonly refused: FakeAnswer;
  /** Responses to a delivery whose token has expired. */
  readonly expired: readonly FakeAnswer[];
}

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const TELEGRAM: TargetCase = {
  target: 'telegram',
  name: 'bot',
  variant: 'default',
  settings: { token: '123:canary' },
  extra: { chat_id: '-100', message_thread_id: '9' },
  request: {
    path: '/bot123:canary/sendMessage',
    json: { chat_id: -100, text: 'hello', message_thread_id: 9, link_preview_options: { is_disabled: true } },
  },
  ok: [{ body: { ok: true, result: { message_id: 7, chat: { id: -100 }, date: 1, text: 'x' } } }],
  messageId: '7',
  auth: [
    { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } },
    { status: 404, body: { ok: false, error_code: 404, description: 'Not Found' } },
  ],
  rate: [
    [
      {
        status: 429,
        headers: { 'retry-after': '9' },
        body: { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 2 } },
      },
      2000,
    ],
  ],
  permanent: [
    { status: 400, body: { ok: false, error_code: 400, description: 'Bad Request: chat not found' } },
    { status: 400, body: { ok: false, error_code: 400, parameters: { migrate_to_chat_id: -1001 } } },
    { status: 403, body: { ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' } },
  ],
  idempotent: false,
};

const TELEGRAM_REACTION: TargetCase = {
  ...TELEGRAM,
  target: 'telegram_reaction',
  extra: { chat_id: '-100', message_id: '9' },
  request: {
    path: '/bot123:canary/setMessageReaction',
    json: { chat_id: -100, message_id: 9, reaction: [{ type: 'emoji', emoji: 'hello' }] },
  },
  ok: [{ body: { ok: true, result: true } }],
  messageId: null,
  idempotent: true,
};

const DISCORD_ANSWERS = {
  ok: [{ body: { id: '1', channel_id: '2', content: 'x' } }],
  messageId: '1',
  rate: [
    [{ status: 429, headers: { 'retry-after': '1' }, body: { message: 'x', retry_after: 0.35, global: false } }, 350],
    [{ status: 429, headers: { 'retry-after': '4' }, body: '<html>banned</html>' }, 4000],
    [{ status: 503, body: { code: 130000, message: 'overloaded' } }, null],
  ],
  permanent: [
    { status: 404, body: { code: 10003, message: 'Unknown Channel' } },
    { status: 400, body: { code: 50035, message: 'Invalid Form Body', errors: {} } },
  ],
} as const;

const DISCORD_BOT = {
  target: 'discord',
  variant: 'bot',
  settings: { bot_token: 'canary-token' },
  auth: [{ status: 401, body: { message: '401: Unauthorized', code: 0 } }],
  idempotent: true,
  ...DISCORD_ANSWERS,
} as const;

const DISCORD_BODY = {
  content: 'hello',
  allowed_mentions: { parse: [] },
  nonce: 'KEY25',
  enforce_nonce: true,
  flags: 4,
};

const DISCORD_AGENT = 'DiscordBot (https://hookwright.invalid, 1.0)';

const DISCORD: readonly TargetCase[] = [
  {
    ...DISCORD_BOT,
    name: 'bot',
    extra: { chat_id: '200' },
    request: {
      path: '/channels/200/messages',
      headers: { authorization: 'Bot canary-token', 'user-agent': DISCORD_AGENT },
      json: DISCORD_BODY,
    },
  },
  {
    ...DISCORD_BOT,
    name: 'bot in a thread',
    extra: { chat_id: '200', thread_id: '300' },
    request: {
      path: '/channels/300/messages',
      headers: { authorization: 'Bot canary-token' },
      json: DISCORD_BODY,
    },
  },
  {
    target: 'discord',
    name: 'webhook',
    variant: 'webhook',
    settings: { webhook_id: '55', webhook_token: 'canary-hook' },
    extra: { thread_id: '300' },
    request: {
      path: '/webhooks/55/canary-hook',
      query: { wait: 'true', thread_id: '300' },
      headers: { 'user-agent': DISCORD_AGENT },
      json: { content: 'hello', allowed_mentions: { parse: [] }, flags: 4 },
    },
    auth: [{ status: 401, body: { code: 50027, message: 'Invalid Webhook Token' } }],
    idempotent: false,
    ...DISCORD_ANSWERS,
  },
  {
    target: 'discord',
    name: 'webhook by URL',
    variant: 'webhook_url',
    apiBase: false,
    settings: { webhook_url: '{server}/api/webhooks/55/canary-hook' },
    request: {
      path: '/api/webhooks/55/canary-hook',
      query: { wait: 'true' },
      json: { content: 'hello', allowed_mentions: { parse: [] }, flags: 4 },
    },
    auth: [{ status: 404, body: { code: 10015, message: 'Unknown Webhook' } }],
    idempotent: false,
    ...DISCORD_ANSWERS,
  },
];

const SLACK: readonly TargetCase[] = [
  {
    target: 'slack',
    name: 'bot in a thread',
    variant: 'bot',
    settings: { bot_token: 'xoxb-canary' },
    extra: { chat_id: 'C1', thread_id: '1503435956.000247' },
    text: 'a <b> & <!channel>',
    request: {
      path: '/chat.postMessage',
      headers: { authorization: 'Bearer xoxb-canary', 'content-type': 'application/json; charset=utf-8' },
      json: {
        channel: 'C1',
        text: 'a &lt;b&gt; &amp; &lt;!channel&gt;',
        thread_ts: '1503435956.000247',
        client_msg_id: 'UUID',
        mrkdwn: false,
        parse: 'none',
        link_names: false,
        unfurl_links: false,
        unfurl_media: false,
      },
    },
    ok: [{ body: { ok: true, channel: 'C1', ts: '1.0002', message: {} } }],
    messageId: '1.0002',
    auth: [{ body: { ok: false, error: 'invalid_auth' } }, { body: { ok: false, error: 'missing_scope' } }],
    rate: [
      [{ status: 429, headers: { 'retry-after': '3' }, body: { ok: false, error: 'ratelimited' } }, 3000],
      [{ body: { ok: false, error: 'rate_limited' } }, null],
    ],
    permanent: [{ body: { ok: false, error: 'channel_not_found' } }, { body: { ok: false, error: 'msg_too_long' } }],
    ambiguous: [{ body: { ok: false, error: 'internal_error' } }],
    idempotent: false,
  },
  {
    target: 'slack',
    name: 'webhook',
    variant: 'webhook',
    apiBase: false,
    settings: { webhook_url: '{server}/services/T/B/canary' },
    text: 'a & b',
    request: {
      path: '/services/T/B/canary',
      json: {
        ...{ text: 'a &amp; b', mrkdwn: false, parse: 'none', link_names: false },
        ...{ unfurl_links: false, unfurl_media: false },
      },
    },
    ok: [{ body: 'ok' }],
    messageId: null,
    auth: [{ status: 404, body: 'no_service' }],
    rate: [[{ status: 429, headers: { 'retry-after': '2' }, body: 'rate_limited' }, 2000]],
    permanent: [
      { status: 410, body: 'channel_is_archived' },
      { status: 400, body: 'invalid_payload' },
    ],
    ambiguous: [{ status: 500, body: 'rollup_error' }],
    idempotent: false,
  },
];

const SIGNAL_RPC = {
  target: 'signal',
  variant: 'daemon',
  ok: [
    {
      body: {
        jsonrpc: '2.0',
        result: { timestamp: 1, results: [{ recipientAddress: { number: '+1' }, type: 'SUCCESS' }] },
        id: 'x',
      },
    },
  ],
  messageId: '1',
  auth: [],
  rate: [
    [
      {
        body: {
          jsonrpc: '2.0',
          error: {
            code: -5,
            message: 'rate',
            data: { response: { timestamp: 1, results: [{ type: 'RATE_LIMIT_FAILURE', retryAfterSeconds: 5 }] } },
          },
        },
      },
      5000,
    ],
    [{ body: { jsonrpc: '2.0', error: { code: -5, message: 'rate' } } }, 60_000],
  ],
  permanent: [
    { body: { jsonrpc: '2.0', error: { code: -1, message: 'Failed to send message', data: null }, id: 'x' } },
    { body: { jsonrpc: '2.0', result: { timestamp: 1, results: [{ type: 'UNREGISTERED_FAILURE' }] } } },
    { status: 421, body: '' },
    { status: 415, body: '' },
  ],
  ambiguous: [{ body: { jsonrpc: '2.0', error: { code: -3, message: 'io' } } }],
  idempotent: false,
} as const;

const SIGNAL: readonly TargetCase[] = [
  {
    target: 'signal',
    name: 'rest',
    variant: 'rest',
    settings: { sender_number: '+491111', proxy_token: 'canary-proxy' },
    extra: { chat_id: '+4912345' },
    request: {
      path: '/v2/send',
      headers: { authorization: 'Bearer canary-proxy' },
      json: { number: '+491111', recipients: ['+4912345'], message: 'hello', text_mode: 'normal' },
    },
    ok: [
      { status: 201, body: { timestamp: '17' } },
      { status: 201, body: [{ timestamp: '17' }] },
    ],
    messageId: null,
    auth: [{ status: 401, body: '' }],
    rate: [
      [{ status: 429, body: { error: 'rate limited', challenge_tokens: ['t'], account: '+1' } }, 600_000],
      [{ status: 429, body: { error: 'rate limited' } }, 60_000],
      [{ status: 400, body: { error: 'Network failure' } }, null],
    ],
    permanent: [
      { status: 400, body: { error: 'Unregistered user "+1"' } },
      {
        status: 201,
        body: [{ timestamp: '1', errors: { recipients: [{ number: '+1', reason: 'UNREGISTERED_FAILURE' }] } }],
      },
    ],
    idempotent: false,
  },
  {
    ...SIGNAL_RPC,
    name: 'daemon to a number',
    settings: { sender_number: '+491111', proxy_user: 'u', proxy_password: 'canary-pass' },
    extra: { chat_id: '+4912345' },
    request: {
      path: '/api/v1/rpc',
      headers: { authorization: basic('u', 'canary-pass') },
      json: {
        jsonrpc: '2.0',
        id: 'KEY64',
        method: 'send',
        params: { account: '+491111', recipient: ['+4912345'], message: 'hello' },
      },
    },
  },
  {
    ...SIGNAL_RPC,
    name: 'daemon to a group',
    settings: {},
    extra: { chat_id: 'group:YWJj+/8=' },
    request: {
      path: '/api/v1/rpc',
      json: { jsonrpc: '2.0', id: 'KEY64', method: 'send', params: { groupId: 'YWJj+/8=', message: 'hello' } },
    },
  },
  {
    ...SIGNAL_RPC,
    name: 'daemon to a user name',
    settings: {},
    extra: { chat_id: 'ada.01' },
    request: {
      path: '/api/v1/rpc',
      json: { jsonrpc: '2.0', id: 'KEY64', method: 'send', params: { username: ['ada.01'], message: 'hello' } },
    },
  },
];

const TWILIO = {
  target: 'sms',
  extra: { chat_id: '+49170000' },
  ok: [
    { status: 201, body: { sid: 'SM1', status: 'queued', error_code: null, error_message: null } },
    { status: 200, body: { sid: 'SM1', status: 'accepted', error_code: null } },
  ],
  messageId: 'SM1',
  auth: [{ status: 401, body: { code: 20003, message: 'Authenticate', more_info: '', status: 401 } }],
  rate: [
    [{ status: 429, body: { code: 20429, message: 'Too Many Requests', status: 429 } }, 2000],
    [{ status: 429, headers: { 'retry-after': '7' }, body: { code: 20429 } }, 7000],
  ],
  permanent: [
    { status: 400, body: { code: 21211, message: "Invalid 'To' Phone Number", more_info: '', status: 400 } },
    { status: 201, body: { sid: 'SM1', status: 'failed', error_code: 30001 } },
  ],
  idempotent: false,
} as const;

const SMS: readonly TargetCase[] = [
  {
    ...TWILIO,
    name: 'account token',
    variant: 'account',
    settings: { account_sid: 'ACcanary', auth_token: 'canary-auth', from: '+1555' },
    request: {
      path: '/2010-04-01/Accounts/ACcanary/Messages.json',
      headers: { authorization: basic('ACcanary', 'canary-auth') },
      form: { To: '+49170000', Body: 'hello', From: '+1555' },
    },
  },
  {
    ...TWILIO,
    name: 'API key',
    variant: 'api_key',
    settings: {
      account_sid: 'ACcanary',
      api_key_sid: 'SK1',
      api_key_secret: 'canary-key',
      messaging_service_sid: 'MG1',
    },
    request: {
      path: '/2010-04-01/Accounts/ACcanary/Messages.json',
      headers: { authorization: basic('SK1', 'canary-key') },
      form: { To: '+49170000', Body: 'hello', MessagingServiceSid: 'MG1' },
    },
  },
];

function metaError(code: number, status = 400): FakeAnswer {
  return { status, body: { error: { message: 'x', type: 'OAuthException', code, fbtrace_id: 'A' } } };
}

const WHATSAPP: TargetCase = {
  target: 'whatsapp',
  name: 'answer to a message',
  variant: 'default',
  settings: { access_token: 'canary-token', phone_number_id: '111' },
  extra: { chat_id: '+4917000', thread_id: 'wamid.X' },
  request: {
    path: '/111/messages',
    headers: { authorization: 'Bearer canary-token' },
    json: {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '+4917000',
      type: 'text',
      text: { preview_url: false, body: 'hello' },
      context: { message_id: 'wamid.X' },
    },
  },
  ok: [{ body: { messaging_product: 'whatsapp', contacts: [], messages: [{ id: 'wamid.X' }] } }],
  messageId: 'wamid.X',
  auth: [metaError(190, 401), metaError(0, 401), metaError(10, 403), metaError(294, 403)],
  rate: [
    [metaError(131056), 6000],
    [metaError(131056, 429), 6000],
    [metaError(80007), 10_000],
    [metaError(131048), 900_000],
  ],
  permanent: [metaError(131047), metaError(131026), metaError(132000), metaError(100)],
  ambiguous: [metaError(131000, 500), metaError(2, 400)],
  idempotent: false,
};

const MATRIX: TargetCase = {
  target: 'matrix',
  name: 'in a thread',
  variant: 'default',
  settings: { access_token: 'canary-token' },
  extra: { chat_id: '!r/o:example.org', thread_id: '$root' },
  request: {
    method: 'PUT',
    path: '/_matrix/client/v3/rooms/%21r%2Fo%3Aexample.org/send/m.room.message/KEY64',
    headers: { authorization: 'Bearer canary-token' },
    json: {
      msgtype: 'm.text',
      body: 'hello',
      'm.mentions': {},
      'm.relates_to': {
        rel_type: 'm.thread',
        event_id: '$root',
        is_falling_back: true,
        'm.in_reply_to': { event_id: '$root' },
      },
    },
  },
  ok: [{ body: { event_id: '$a' } }],
  messageId: '$a',
  auth: [{ status: 401, body: { errcode: 'M_UNKNOWN_TOKEN', error: '.', soft_logout: false } }],
  rate: [
    [
      {
        status: 429,
        headers: { 'retry-after': '2' },
        body: { errcode: 'M_LIMIT_EXCEEDED', error: 'x', retry_after_ms: 1500 },
      },
      2000,
    ],
    [{ status: 429, body: { errcode: 'M_LIMIT_EXCEEDED', error: 'x', retry_after_ms: 1500 } }, 1500],
  ],
  permanent: [
    { status: 403, body: { errcode: 'M_FORBIDDEN', error: 'User not in room' } },
    { status: 413, body: { errcode: 'M_TOO_LARGE', error: 'event too large' } },
  ],
  idempotent: true,
};

const MATTERMOST: readonly TargetCase[] = [
  {
    target: 'mattermost',
    name: 'bot',
    variant: 'bot',
    settings: { token: 'canary-token' },
    extra: { chat_id: 'c1', thread_id: 'p0' },
    text: 'hello @all',
    request: {
      path: '/api/v4/posts',
      headers: { authorization: 'Bearer canary-token' },
      json: { channel_id: 'c1', message: 'hello @\u200Ball', root_id: 'p0', pending_post_id: 'KEY64' },
    },
    ok: [{ status: 201, body: { id: 'p1', channel_id: 'c1', message: 'x' } }],
    messageId: 'p1',
    auth: [{ status: 401, body: { id: 'api.context.session_expired.app_error', message: '.', status_code: 401 } }],
    rate: [
      [{ status: 429, headers: { 'retry-after': '1', 'x-ratelimit-reset': '1' }, body: 'limit exceeded' }, 1000],
      [{ status: 500, body: { id: 'api.post.deduplicate_create_post.pending', status_code: 500 } }, 1000],
    ],
    permanent: [{ status: 400, body: { id: 'model.post.is_valid.message_length.app_error', status_code: 400 } }],
    idempotent: true,
  },
  {
    target: 'mattermost',
    name: 'webhook',
    variant: 'webhook',
    apiBase: false,
    settings: { webhook_url: '{server}/hooks/canary' },
    extra: { chat_id: 'town-square' },
    request: { path: '/hooks/canary', json: { text: 'hello', channel: 'town-square' } },
    ok: [{ body: 'ok' }],
    messageId: null,
    auth: [{ status: 401, body: '' }],
    rate: [[{ status: 429, body: 'limit exceeded' }, null]],
    permanent: [{ status: 400, body: { id: 'web.incoming_webhook.invalid.app_error', status_code: 400 } }],
    idempotent: false,
  },
];

const HOME = {
  target: 'homeassistant',
  variant: 'default',
  settings: { access_token: 'canary-token' },
  ok: [{ body: [] }],
  messageId: null,
  auth: [{ status: 401, body: '401: Unauthorized' }],
  rate: [],
  permanent: [{ status: 400, body: '400: Bad Request' }, { body: { message: 'not a list' } }],
  idempotent: false,
} as const;

const HOME_ASSISTANT: readonly TargetCase[] = [
  {
    ...HOME,
    name: 'notify service',
    extra: { chat_id: 'mobile_app_phone', title: 'Build' },
    text: 'a {{ states }} {% x',
    request: {
      path: '/api/services/notify/mobile_app_phone',
      headers: { authorization: 'Bearer canary-token' },
      json: { message: 'a {\u200B{ states }} {\u200B% x', title: 'Build' },
    },
  },
  {
    ...HOME,
    name: 'notify entity',
    extra: { chat_id: 'notify.phone' },
    request: {
      path: '/api/services/notify/send_message',
      json: { entity_id: 'notify.phone', message: 'hello' },
    },
  },
  {
    ...HOME,
    name: 'card',
    extra: { chat_id: 'persistent_notification' },
    request: {
      path: '/api/services/persistent_notification/create',
      json: { message: 'hello', notification_id: 'KEY64' },
    },
  },
  {
    ...HOME,
    name: 'card with an id',
    extra: { chat_id: 'persistent_notification.builds' },
    request: {
      path: '/api/services/persistent_notification/create',
      json: { message: 'hello', notification_id: 'builds' },
    },
  },
];

const DING_APP = {
  target: 'dingtalk',
  variant: 'app',
  settings: { app_key: 'canary-k1', app_secret: 'canary-secret', robot_code: 'r1' },
  ok: [{ body: { processQueryKey: 'q' } }],
  messageId: 'q',
  auth: [{ status: 403, body: { code: 'Forbidden.AccessDenied.AccessTokenPermissionDenied', message: '.' } }],
  rate: [
    [{ status: 403, body: { code: 'Forbidden.AccessDenied.QpsLimitForAppkeyAndApi', message: '.' } }, 1000],
    [{ body: { processQueryKey: 'q', flowControlledStaffIdList: ['u'] } }, 10_000],
  ],
  permanent: [
    { status: 400, body: { code: 'invalidParameter.robotCode.empty', message: '.' } },
    { body: { processQueryKey: 'q', invalidStaffIdList: ['u'] } },
  ],
  ambiguous: [{ status: 400, body: { code: 'ServiceUnavailable', message: '.' } }],
  idempotent: false,
  exchange: {
    request: { path: '/v1.0/oauth2/accessToken', json: { appKey: 'canary-k1', appSecret: 'canary-secret' } },
    answer: { accessToken: 'TOKEN', expireIn: 7200 },
    refused: { status: 400, body: { code: 'invalidClientIdOrSecret', message: '.' } },
    expired: [
      { status: 400, body: { code: 'InvalidAuthentication', message: '.', requestid: 'r' } },
      { status: 401, body: { code: 'x', message: '.' } },
    ],
  },
} as const;

const DINGTALK: readonly TargetCase[] = [
  {
    target: 'dingtalk',
    name: 'signed robot',
    variant: 'robot',
    settings: { access_token: 'canary-token', sign_secret: 'SECcanary' },
    request: {
      path: '/robot/send',
      query: { access_token: 'canary-token', timestamp: 'NOW', sign: 'SIGN' },
      json: { msgtype: 'text', text: { content: 'hello' }, at: { isAtAll: false, atMobiles: [] } },
    },
    ok: [{ body: { errcode: 0, errmsg: 'ok' } }],
    messageId: null,
    auth: [
      { body: { errcode: 310000, errmsg: 'sign not match' } },
      { body: { errcode: 300005, errmsg: 'token is not exist' } },
    ],
    rate: [
      [{ body: { errcode: 130101, errmsg: 'send too fast, exceed 20 times per minute' } }, 60_000],
      [{ body: { status: 1111, wait: 5, source: 'x5', punish: 'deny' } }, 5000],
      [{ body: { errcode: -1, errmsg: 'busy' } }, null],
    ],
    permanent: [{ body: { errcode: 40035, errmsg: 'missing parameter' } }, { body: { unexpected: true } }],
    idempotent: false,
  },
  {
    ...DING_APP,
    name: 'app to a group',
    extra: { chat_id: 'cidAbc+/=' },
    request: {
      path: '/v1.0/robot/groupMessages/send',
      headers: { 'x-acs-dingtalk-access-token': 'canary-1' },
      json: {
        robotCode: 'r1',
        openConversationId: 'cidAbc+/=',
        msgKey: 'sampleText',
        msgParam: '{"content":"hello"}',
      },
    },
  },
  {
    ...DING_APP,
    name: 'app to a person',
    extra: { chat_id: 'user:u1' },
    request: {
      path: '/v1.0/robot/oToMessages/batchSend',
      headers: { 'x-acs-dingtalk-access-token': 'canary-1' },
      json: { robotCode: 'r1', userIds: ['u1'], msgKey: 'sampleText', msgParam: '{"content":"hello"}' },
    },
  },
];

const LARK_APP = {
  target: 'feishu',
  variant: 'app',
  settings: { app_id: 'cli_1', app_secret: 'canary-secret' },
  ok: [{ body: { code: 0, msg: 'success', data: { message_id: 'om_1' } } }],
  messageId: 'om_1',
  auth: [{ status: 400, body: { code: 99991672, msg: 'scope' } }],
  rate: [
    [{ status: 429, headers: { 'x-ogw-ratelimit-reset': '3' }, body: { code: 99991400, msg: 'x' } }, 3000],
    [{ status: 400, headers: { 'x-ogw-ratelimit-reset': '3' }, body: { code: 99991400, msg: 'x' } }, 3000],
    [{ body: { code: 230020, msg: 'x' } }, 1000],
  ],
  permanent: [{ status: 400, body: { code: 230002, msg: 'bot not in chat' } }],
  idempotent: true,
  exchange: {
    request: {
      path: '/open-apis/auth/v3/tenant_access_token/internal',
      json: { app_id: 'cli_1', app_secret: 'canary-secret' },
    },
    answer: { code: 0, msg: 'ok', tenant_access_token: 'TOKEN', expire: 7200 },
    refused: { body: { code: 10014, msg: 'app secret invalid' } },
    expired: [{ status: 400, body: { code: 99991663, msg: 'invalid tenant access token' } }],
  },
} as const;

const larkForm = (name: string, chatId: string, type: string, receiveId = chatId): TargetCase => ({
  ...LARK_APP,
  name,
  extra: { chat_id: chatId },
  text: '<at user_id="all"></at> hi',
  request: {
    path: '/open-apis/im/v1/messages',
    query: { receive_id_type: type },
    headers: { authorization: 'Bearer canary-1' },
    json: {
      receive_id: receiveId,
      msg_type: 'text',
      content: JSON.stringify({ text: '<\u200Bat user_id="all"></at> hi' }),
      uuid: 'KEY40',
    },
  },
});

const LARK: readonly TargetCase[] = [
  larkForm('app to a chat', 'oc_1', 'chat_id'),
  larkForm('app to an open id', 'ou_1', 'open_id'),
  larkForm('app to a union id', 'on_1', 'union_id'),
  larkForm('app to a user id', 'user:u1', 'user_id', 'u1'),
  larkForm('app to a mail address', 'a@b.example', 'email'),
  {
    ...LARK_APP,
    name: 'app in a thread',
    extra: { thread_id: 'om_9' },
    request: {
      path: '/open-apis/im/v1/messages/om_9/reply',
      headers: { authorization: 'Bearer canary-1' },
      json: { content: '{"text":"hello"}', msg_type: 'text', reply_in_thread: true, uuid: 'KEY40' },
    },
  },
  {
    target: 'feishu',
    name: 'signed custom bot',
    variant: 'webhook',
    settings: { hook_token: 'canary-hook', sign_secret: 'canary-sign' },
    request: {
      path: '/open-apis/bot/v2/hook/canary-hook',
      json: { timestamp: 'NOW', sign: 'SIGN', msg_type: 'text', content: { text: 'hello' } },
    },
    ok: [{ body: { StatusCode: 0, StatusMessage: 'success', code: 0, data: {}, msg: 'success' } }],
    messageId: null,
    auth: [{ body: { code: 19021, msg: 'sign match fail or timestamp is not within one hour' } }],
    rate: [[{ body: { code: 11232, msg: 'frequency limited' } }, 5000]],
    permanent: [
      { body: { code: 19024, msg: 'Key Words Not Found' } },
      { status: 400, body: { code: 9499, msg: 'Bad Request', data: {} } },
    ],
    idempotent: false,
  },
];

const WECOM_APP = {
  target: 'wecom',
  variant: 'app',
  settings: { corp_id: 'ww1', corp_secret: 'canary-secret', agent_id: '1000002' },
  ok: [{ body: { errcode: 0, errmsg: 'ok', invaliduser: '', msgid: 'm' } }],
  messageId: 'm',
  auth: [{ body: { errcode: 48001, errmsg: 'api forbidden' } }],
  rate: [
    [{ body: { errcode: 45009, errmsg: 'api freq out of limit' } }, 60_000],
    [{ body: { errcode: -1, errmsg: 'busy' } }, null],
  ],
  permanent: [
    { body: { errcode: 81013, errmsg: 'all invalid' } },
    { body: { errcode: 0, errmsg: 'ok', invaliduser: 'u1' } },
    { body: { errcode: 0, errmsg: 'ok', unlicenseduser: 'u1' } },
  ],
  idempotent: true,
  exchange: {
    request: {
      method: 'GET',
      path: '/cgi-bin/gettoken',
      query: { corpid: 'ww1', corpsecret: 'canary-secret' },
    },
    answer: { errcode: 0, errmsg: 'ok', access_token: 'TOKEN', expires_in: 7200 },
    refused: { body: { errcode: 40013, errmsg: 'invalid corpid' } },
    expired: [{ body: { errcode: 42001, errmsg: 'access_token expired' } }],
  },
} as const;

const wecomBody = (to: Readonly<Record<string, string>>): unknown => ({
  ...to,
  msgtype: 'text',
  agentid: 1000002,
  text: { content: 'hello' },
  safe: 0,
  enable_duplicate_check: 1,
  duplicate_check_interval: 600,
});

const wecomForm = (name: string, chatId: string, to: Readonly<Record<string, string>>): TargetCase => ({
  ...WECOM_APP,
  name,
  extra: { chat_id: chatId },
  request: { path: '/cgi-bin/message/send', query: { access_token: 'canary-1' }, json: wecomBody(to) },
});

const WECOM: readonly TargetCase[] = [
  {
    target: 'wecom',
    name: 'robot',
    variant: 'robot',
    settings: { key: 'canary-key' },
    text: 'hi <@user>',
    request: {
      path: '/cgi-bin/webhook/send',
      query: { key: 'canary-key' },
      json: { msgtype: 'text', text: { content: 'hi <\u200B@user>' } },
    },
    ok: [{ body: { errcode: 0, errmsg: 'ok' } }],
    messageId: null,
    auth: [{ body: { errcode: 93000, errmsg: 'invalid webhook url' } }],
    rate: [[{ body: { errcode: 45009, errmsg: 'api freq out of limit' } }, 60_000]],
    permanent: [{ body: { errcode: 40058, errmsg: 'invalid' } }],
    idempotent: false,
  },
  wecomForm('app to users', 'u1|u2', { touser: 'u1|u2' }),
  wecomForm('app to a party', 'party:2', { toparty: '2' }),
  wecomForm('app to a tag', 'tag:3', { totag: '3' }),
];

const WECHAT: TargetCase = {
  target: 'wechat',
  name: 'customer message',
  variant: 'default',
  settings: { app_id: 'wx1', app_secret: 'canary-secret' },
  extra: { chat_id: 'o-Open_Id' },
  request: {
    path: '/cgi-bin/message/custom/send',
    query: { access_token: 'canary-1' },
    json: { touser: 'o-Open_Id', msgtype: 'text', text: { content: 'hello' } },
  },
  ok: [{ body: { errcode: 0, errmsg: 'ok' } }],
  messageId: null,
  auth: [{ body: { errcode: 48001, errmsg: 'api unauthorized' } }],
  rate: [
    [{ body: { errcode: 45011, errmsg: 'api minute-quota reach limit' } }, 60_000],
    [{ body: { errcode: -1, errmsg: 'system error' } }, null],
  ],
  permanent: [
    { body: { errcode: 45015, errmsg: 'response out of time limit' } },
    { body: { errcode: 45009, errmsg: 'daily quota' } },
  ],
  idempotent: false,
  exchange: {
    request: {
      path: '/cgi-bin/stable_token',
      json: { grant_type: 'client_credential', appid: 'wx1', secret: 'canary-secret', force_refresh: false },
    },
    answer: { access_token: 'TOKEN', expires_in: 7200 },
    refused: { body: { errcode: 40013, errmsg: 'invalid appid' } },
    expired: [{ body: { errcode: 40001, errmsg: 'invalid credential' } }],
  },
};

const BLUEBUBBLES = {
  target: 'imessage',
  variant: 'default',
  settings: { password: 'canary pass&word' },
  ok: [{ body: { status: 200, message: 'Message sent!', data: { guid: 'G', tempGuid: 'T' } } }],
  messageId: 'G',
  auth: [{ status: 401, body: { status: 401, message: '.', error: { type: 'Authentication Error', message: 'x' } } }],
  rate: [],
  permanent: [{ status: 400, body: { status: 400, message: '.', error: { type: 'Validation Error', message: '.' } } }],
  ambiguous: [
    { status: 500, body: { status: 500, message: '.', error: { type: 'iMessage Error', message: '.' } } },
    { status: 504, body: { status: 504, message: '.', error: { type: 'Gateway Timeout', message: '.' } } },
  ],
  idempotent: false,
} as const;

const IMESSAGE: readonly TargetCase[] = [
  {
    ...BLUEBUBBLES,
    name: 'to a person',
    extra: { chat_id: 'iMessage;-;+15550001' },
    request: {
      path: '/api/v1/message/text',
      query: { password: 'canary pass&word' },
      json: { chatGuid: 'iMessage;-;+15550001', tempGuid: 'UUID', message: 'hello', method: 'apple-script' },
    },
  },
  {
    ...BLUEBUBBLES,
    name: 'answer to a message',
    extra: { chat_id: 'iMessage;+;chat123', thread_id: 'ABC-1' },
    request: {
      path: '/api/v1/message/text',
      query: { password: 'canary pass&word' },
      json: {
        chatGuid: 'iMessage;+;chat123',
        tempGuid: 'UUID',
        message: 'hello',
        method: 'private-api',
        selectedMessageGuid: 'ABC-1',
      },
    },
  },
];

const QQ_BOT = {
  target: 'qqbot',
  variant: 'default',
  settings: { app_id: '1', client_secret: 'canary-secret' },
  ok: [
    { body: { id: 'm', timestamp: 1 } },
    {
      status: 202,
      body: { code: 304023, message: 'waiting for audit', data: { message_audit: { audit_id: 'a' } } },
    },
  ],
  messageId: 'm',
  auth: [{ status: 400, body: { code: 11241, message: 'missing token' } }],
  rate: [
    [{ status: 429, body: { code: 22009, message: 'msg limit exceed' } }, 60_000],
    [{ status: 400, body: { code: 20028, message: 'limit' } }, 60_000],
  ],
  permanent: [
    { status: 400, body: { code: 304027, message: 'expired' } },
    { status: 400, body: { code: 304045, message: 'quota' } },
    { status: 400, body: { code: 50006, message: 'x' } },
  ],
  idempotent: false,
  exchange: {
    request: { path: '/app/getAppAccessToken', json: { appId: '1', clientSecret: 'canary-secret' } },
    answer: { access_token: 'TOKEN', expires_in: '7200' },
    refused: { body: { code: 100016, message: 'invalid appid or secret' } },
    expired: [{ status: 401, body: { code: 11244, message: 'token expired' } }],
  },
} as const;

const qqForm = (kind: string, path: string, isV2: boolean): TargetCase => ({
  ...QQ_BOT,
  name: `to a ${kind}`,
  extra: { chat_id: `${kind}:AB12`, thread_id: 'msg1' },
  text: '<@1> @everyone',
  request: {
    path,
    headers: { authorization: 'QQBot canary-1' },
    json: {
      content: '<\u200B@1> @\u200Beveryone',
      msg_id: 'msg1',
      ...(isV2 ? { msg_type: 0, msg_seq: 1 } : {}),
    },
  },
});

const QQ: readonly TargetCase[] = [
  qqForm('user', '/v2/users/AB12/messages', true),
  qqForm('group', '/v2/groups/AB12/messages', true),
  qqForm('channel', '/channels/AB12/messages', false),
  qqForm('dms', '/dms/AB12/messages', false),
];

export const TARGET_CASES: readonly TargetCase[] = [
  TELEGRAM,
  TELEGRAM_REACTION,
  ...DISCORD,
  ...SLACK,
  ...SIGNAL,
  ...SMS,
  WHATSAPP,
  MATRIX,
  ...MATTERMOST,
  ...HOME_ASSISTANT,
  ...DINGTALK,
  ...LARK,
  ...WECOM,
  WECHAT,
  ...IMESSAGE,
  ...QQ,
];
