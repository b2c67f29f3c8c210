import { AsyncContent } from '../../ui/async-content.js';
import { useResource } from '../../ui/use-resource.js';
import { SecretsLayout } from '../secrets-layout.js';
import { KeyDetails } from './key-details.js';
import { CreateKey } from './create-key.js';
import { loadOwnerKeys } from './owner-keys.js';

export function IdentityPage() {
  const keys = useResource(loadOwnerKeys);
  return (
    <SecretsLayout title="My key">
      <AsyncContent from={keys}>
        {(known) =>
          known.publicKey === undefined ? (
            <CreateKey passkeys={known.passkeys} onDone={keys.reload} />
          ) : (
            <KeyDetails keys={known} publicKey={known.publicKey} onChange={keys.reload} />
          )
        }
      </AsyncContent>
    </SecretsLayout>
  );
}
