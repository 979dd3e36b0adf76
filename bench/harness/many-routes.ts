/** Configs of any size, as a large installation would write them: every route with filters, a template and an address. */

const EVENTS = ['push', 'pull_request', 'issues', 'release', 'check_run'] as const;

/** One route; every tenth sends to a chat, the others run an agent. */
function routeYaml(index: number, prompt: string): string {
  const direct = index % 10 === 0;
  return `      route-${index}:
        description: Route ${index} of a large installation
        events: [${EVENTS[index % EVENTS.length]}, "custom_*"]
        rate_limit: 1000000000
        filters:
          - field: action
            in: [opened, reopened, synchronize]
          - any:
              - field: repository.full_name
                regex: ^team-${index % 97}/
              - field: sender.login
                not_equals: bot-${index}
        prompt: |
          ${prompt}
${
  direct
    ? `        deliver: telegram
        deliver_only: true
        deliver_extra: { chat_id: "-100${index}" }
`
    : `        deliver: log
`
}`;
}

/** A config with `count` routes `route-0`… whose prompts contain `prompt`. */
export function manyRoutes(count: number, prompt: string, secret = 'env:WEBHOOK_SECRET'): string {
  const routes = Array.from({ length: count }, (_, index) => routeYaml(index, prompt)).join('');
  return `platforms:
  webhook:
    enabled: true
    port: 0
    secret: ${secret}
    rate_limit: 1000000000
    routes:
${routes}  telegram:
    enabled: true
    token: env:TELEGRAM_TOKEN
    home_channel: "1"
`;
}
