import { readAll } from '../../../generated/secrets/client.js';
import { useResource } from '../ui/resource.js';
import { serverNow } from '../ui/times.js';
import { findDueWork, findExpiring } from './find-due.js';
import type { ConsumerToken, ObjectMetadata } from './names.js';
import { secretsClient } from './secrets.js';

async function listConsumerTokens(): Promise<readonly ConsumerToken[]> {
  const tokens: ConsumerToken[] = [];
  for await (const token of readAll((query) => secretsClient.GET('/consumer-tokens', { params: { query } })))
    tokens.push(token);
  return tokens;
}

/** The list of due work is collapsed to this many entries. */
const SHOWN = 5;

/** Lists secrets to rotate or re-encrypt and tokens that expire soon. It is absent while nothing is due. */
export function DueWork({ objects }: { readonly objects: readonly ObjectMetadata[] }) {
  const tokens = useResource(listConsumerTokens);
  const now = serverNow();
  const due = [
    ...objects.flatMap((object) => findDueWork(object, now) ?? []),
    ...findExpiring(tokens.value ?? [], now),
  ];
  if (due.length === 0) return null;
  const sorted = due.sort((a, b) => a.at - b.at);
  return (
    <section class="due" aria-labelledby="due-work">
      <h2 id="due-work">Due ({due.length})</h2>
      <ul>
        {sorted.slice(0, SHOWN).map(({ href, name, text, isOverdue }) => (
          <li key={`${href} ${name}`}>
            <a href={href}>
              <bdi>{name}</bdi>
            </a>{' '}
            <span class={isOverdue ? 'bad' : 'wait'}>{text}</span>
          </li>
        ))}
      </ul>
      {sorted.length > SHOWN && (
        <p class="quiet">and {sorted.length - SHOWN} more, which are first in the list below</p>
      )}
    </section>
  );
}
