/** The sessions that a home and its profiles keep as files. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_PROFILE, PROFILE_NAME, profileHome } from '../../../../base/profiles.ts';
import { fileSessions } from '../../../../runtime/deliver/sessions/file-sessions.ts';
import type { MovedSession } from '../../runtime/postgres/import-sessions.ts';

export interface StoredSessions {
  readonly count: number;
  read(): AsyncIterable<MovedSession>;
}

/** @throws CliError when a file cannot be read */
export async function storedSessions(home: string): Promise<StoredSessions> {
  const files = fileSessions((profile) => profileHome(home, profile));
  const found = (
    await Promise.all(
      profilesOf(home).map(async (profile) => (await files.list(profile)).map((each) => ({ profile, ...each }))),
    )
  ).flat();
  return {
    count: found.length,
    async *read() {
      for (const { profile, target, chat_id, changed_at } of found) {
        const chat = { profile, target, chatId: chat_id };
        yield { ...chat, changed_at, turns: (await files.read(chat)) ?? [] };
      }
    },
  };
}

function profilesOf(home: string): readonly string[] {
  const folder = join(home, 'profiles');
  const named = existsSync(folder) ? readdirSync(folder).filter((name) => PROFILE_NAME.test(name)) : [];
  return [DEFAULT_PROFILE, ...named];
}
