import { useRef } from 'preact/hooks';
import { toVariable } from '../../../sealing/env-names.js';
import { requireData } from '../api.js';
import { publicOrigin } from '../page-data.js';
import { CopyButton } from '../ui/buttons.js';
import { Field } from '../ui/fields.js';
import { StepHeading } from './identity/create-phrase.js';
import { rememberKeys } from './known-keys.js';
import { linkToSecret } from './names.js';
import { secretsClient } from './secrets.js';

/** The credentials of a new consumer, which exist only in this page. */
export interface ProgramAccess {
  readonly consumer: string;
  readonly identity: string;
  readonly token: string;
}

/** The lifetime of the token of a new program. */
const TOKEN_DAYS = 90;

/**
 * Returns a function that registers a consumer with a new key pair and creates its token. After a failure it continues
 * with the key pair that was registered.
 */
export function useProgramAccess(): (consumer: string) => Promise<ProgramAccess> {
  const known = useRef(new Map<string, string>());
  return async (consumer) => {
    // Loaded on demand, as most visits create no key.
    const { generateOwnerIdentity } = await import('./identity/wrapping.js');
    let identity = known.current.get(consumer);
    if (identity === undefined) {
      const pair = await generateOwnerIdentity();
      requireData(await secretsClient.POST('/consumers', { body: { name: consumer, public_key: pair.publicKey } }));
      rememberKeys([{ consumer, publicKey: pair.publicKey }]);
      identity = pair.secret;
      known.current.set(consumer, identity);
    }
    const body = { consumer, description: 'created with its first secret', ttl_seconds: TOKEN_DAYS * 86_400 };
    const { value } = requireData(await secretsClient.POST('/consumer-tokens', { body }));
    return { consumer, identity, token: value };
  };
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
