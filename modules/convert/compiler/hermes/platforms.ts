/**
 * The chat platforms of Hermes Agent that have a target, and where its config or its `.env` defines the target's settings.
 * Platforms that no target can reach are not listed.
 */

export interface PlatformSetting {
  /** Under `platforms.<name>` or its `extra`. */
  readonly keys: readonly string[];
  /** In its `.env`. */
  readonly variable: string;
  readonly secret?: boolean;
  readonly optional?: boolean;
}

export interface Platform {
  /** Sources of the target's settings, by setting name. */
  readonly settings: Readonly<Record<string, PlatformSetting>>;
  /** The variable that contains the home channel. */
  readonly home: string;
}

const bot = (variable: string): PlatformSetting => ({ keys: ['token', 'bot_token'], variable, secret: true });

export const PLATFORMS: Readonly<Record<string, Platform>> = {
  telegram: { settings: { token: bot('TELEGRAM_BOT_TOKEN') }, home: 'TELEGRAM_HOME_CHANNEL' },
  discord: { settings: { token: bot('DISCORD_BOT_TOKEN') }, home: 'DISCORD_HOME_CHANNEL' },
  slack: { settings: { token: bot('SLACK_BOT_TOKEN') }, home: 'SLACK_HOME_CHANNEL' },
  matrix: {
    settings: {
      api_base: { keys: ['homeserver', 'homeserver_url'], variable: 'MATRIX_HOMESERVER' },
      access_token: { keys: ['token', 'access_token'], variable: 'MATRIX_ACCESS_TOKEN', secret: true },
    },
    home: 'MATRIX_HOME_ROOM',
  },
  mattermost: {
    settings: {
      api_base: { keys: ['url', 'server_url'], variable: 'MATTERMOST_URL' },
      access_token: { keys: ['token'], variable: 'MATTERMOST_TOKEN', secret: true },
    },
    home: 'MATTERMOST_HOME_CHANNEL',
  },
  signal: {
    settings: {
      api_base: { keys: ['http_url', 'url'], variable: 'SIGNAL_HTTP_URL' },
      sender_number: { keys: ['account', 'number'], variable: 'SIGNAL_ACCOUNT' },
    },
    home: 'SIGNAL_HOME_CHANNEL',
  },
  sms: {
    settings: {
      account_sid: { keys: ['account_sid'], variable: 'TWILIO_ACCOUNT_SID', secret: true },
      auth_token: { keys: ['auth_token', 'api_key'], variable: 'TWILIO_AUTH_TOKEN', secret: true },
      from: { keys: ['phone_number', 'from_number'], variable: 'TWILIO_PHONE_NUMBER' },
    },
    home: 'SMS_HOME_CHANNEL',
  },
  email: {
    settings: {
      smtp_host: { keys: ['smtp_host'], variable: 'EMAIL_SMTP_HOST' },
      smtp_port: { keys: ['smtp_port'], variable: 'EMAIL_SMTP_PORT', optional: true },
      smtp_user: { keys: ['address'], variable: 'EMAIL_ADDRESS' },
      smtp_pass: { keys: ['password'], variable: 'EMAIL_PASSWORD', secret: true },
      from: { keys: ['address'], variable: 'EMAIL_ADDRESS' },
    },
    home: 'EMAIL_HOME_ADDRESS',
  },
  homeassistant: {
    settings: {
      api_base: { keys: ['url', 'hass_url'], variable: 'HASS_URL' },
      access_token: { keys: ['token'], variable: 'HASS_TOKEN', secret: true },
    },
    home: 'HASS_HOME_CHANNEL',
  },
  feishu: {
    settings: {
      app_id: { keys: ['app_id'], variable: 'FEISHU_APP_ID' },
      app_secret: { keys: ['app_secret'], variable: 'FEISHU_APP_SECRET', secret: true },
    },
    home: 'FEISHU_HOME_CHANNEL',
  },
  bluebubbles: {
    settings: {
      api_base: { keys: ['server_url'], variable: 'BLUEBUBBLES_SERVER_URL' },
      password: { keys: ['password'], variable: 'BLUEBUBBLES_PASSWORD', secret: true },
    },
    home: 'BLUEBUBBLES_HOME_CHANNEL',
  },
  qqbot: {
    settings: {
      app_id: { keys: ['app_id'], variable: 'QQ_APP_ID' },
      client_secret: { keys: ['client_secret'], variable: 'QQ_CLIENT_SECRET', secret: true },
    },
    home: 'QQBOT_HOME_CHANNEL',
  },
};

/** Targets that need no credentials. */
export const PLAIN_TARGETS: ReadonlySet<string> = new Set(['log', 'github_comment']);
