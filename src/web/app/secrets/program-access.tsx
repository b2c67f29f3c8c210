import { useRef } from 'preact/hooks';
import { toVariable } from '../../../sealing/env-file.js';
import { requireData } from '../api.js';
import { publicOrigin } from '../page-data.js';
import { CopyButton } from '../ui/buttons.js';
import { Field } from '../ui/form.js';
import { StepHeading } from './identity/create-phrase.js';
import type { Identity } from './identity/wrapping.js';
import { rememberKeys } from './known-keys.js';
import { type ConsumerEntry, linkToSecret } from './names.js';
import { listAllConsumers, secretsClient } from './secrets.js';

/** The credentials of a new consumer, which exist only in this page. */
export interface ProgramAccess {
  readonly consumer: string;
  readonly identity: string;
  readonly token: string;
}

/** The lifetime of the token of a new program. */
const TOKEN_DAYS = 90;

/**
 * Returns a function that registers a consumer with a new key pair and creates its token. After a failure, also of the
 * secret, it continues with the same key pair and token: the server may have stored what it did not respond to.
 */
export function useProgramAccess(): (consumer: string) => Promise<ProgramAccess> {
  const pairs = useRef(new Map<string, Identity>());
  const made = useRef(new Map<string, ProgramAccess>());
  return async (consumer) => {
    const known = made.current.get(consumer);
    if (known !== undefined) return known;
    // Loaded on demand, as most visits create no key.
    const { generateOwnerIdentity } = await import('./identity/wrapping.js');
    const pair = pairs.current.get(consumer) ?? (await generateOwnerIdentity());
    pairs.current.set(consumer, pair);
    await register(consumer, pair.publicKey);
    const body = { consumer, description: 'created with its first secret', ttl_seconds: TOKEN_DAYS * 86_400 };
    const { value } = requireData(await secretsClient.POST('/consumer-tokens', { body }));
    const access = { consumer, identity: pair.secret, token: value };
    made.current.set(consumer, access);
    return access;
  };
}

/** Registers a consumer, unless an earlier attempt has done it. */
async function register(name: string, publicKey: string): Promise<void> {
  const result = await secretsClient.POST('/consumers', { body: { name, public_key: publicKey } });
  const isOwn = (one: ConsumerEntry): boolean => one.name === name && one.public_key === publicKey;
  if (result.response.status !== 409 || !(await listAllConsumers()).some(isOwn)) requireData(result);
  rememberKeys([{ consumer: name, publicKey }]);
}

interface ProgramFieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly isOpen: boolean;
}

/** The field for a program that gets its key pair and its token together with the secret. */
export function NewProgramField({ value, onValue, isOpen }: ProgramFieldProps) {
  return (
    <details class="fold" open={isOpen || value !== '' ? true : undefined}>
      <summary>Give a new program access</summary>
      <Field
        label="Program or host"
        maxLength={128}
        placeholder="acme/shop"
        hint="Its key pair and token are created when you save, and shown once. A host that has a key pair is added under Consumers."
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        value={value}
        onValue={onValue}
      />
    </details>
  );
}

interface AccessProps {
  readonly access: ProgramAccess;
  readonly slug: string;
}

/** The commands that run a program with the new secret. They contain the credentials, which are shown once. */
export function ProgramCommands({ access: { consumer, identity, token }, slug }: AccessProps) {
  const text = `export TRELLIS_SECRETS_SERVER=${publicOrigin}/secrets
export TRELLIS_SECRETS_TOKEN=${token}
export TRELLIS_SECRETS_IDENTITY=${identity}
trellis secrets run -- printenv ${toVariable(slug)}`;
  return (
    <section aria-label="Commands">
      <StepHeading>Use it in a program</StepHeading>
      <p>
        <bdi>{consumer}</bdi> reads the secret as the variable <code>{toVariable(slug)}</code>. Replace{' '}
        <code>printenv …</code> by your program.
      </p>
      <pre class="commands" tabIndex={0} role="region" aria-label="Commands for a terminal">
        <code>{text}</code>
      </pre>
      <p class="acts">
        <CopyButton value={text} what="the commands" />
        <a class="button" href={linkToSecret({ slug })}>
          Show the secret
        </a>
      </p>
      <p class="problem">
        The token and the private key are shown only now. Store them where <bdi>{consumer}</bdi> runs. The token expires
        in {TOKEN_DAYS} days.
      </p>
    </section>
  );
}
