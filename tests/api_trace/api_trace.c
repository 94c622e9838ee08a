// Counts the calls of CUDA's driver and runtime API between two marks, below streamflow and below the libraries.
//
// The CUDA driver loads this library into a process that starts with its path in CUDA_INJECTION64_PATH. The program
// loads the same file again, which is then the same library, and calls the three functions at the end.
//
// In one line:
// cuda=/usr/local/cuda;
// gcc -O2 -shared -fPIC -I$cuda/include -I$cuda/extras/CUPTI/include api_trace.c -o libapi_trace.so
//     -L$cuda/extras/CUPTI/lib64 -lcupti -Wl,-rpath,$cuda/extras/CUPTI/lib64
#include <cupti.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// More than either API has functions.
enum { DOMAINS = 2, FUNCTIONS = 4096 };

static const CUpti_CallbackDomain domains[DOMAINS] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API};
static const char *const names[DOMAINS] = {"driver", "runtime"};

static atomic_ullong calls[DOMAINS][FUNCTIONS];
static atomic_int is_counting;
static CUpti_SubscriberHandle subscriber;
static CUptiResult state = CUPTI_ERROR_NOT_INITIALIZED;

static void CUPTIAPI on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId function, const void *data) {
  (void)user;
  const CUpti_CallbackData *call = data;
  if (call->callbackSite != CUPTI_API_ENTER || function >= FUNCTIONS) return;
  if (!atomic_load_explicit(&is_counting, memory_order_relaxed)) return;
  for (int i = 0; i < DOMAINS; i++)
    if (domains[i] == domain) atomic_fetch_add_explicit(&calls[i][function], 1, memory_order_relaxed);
}

// The driver calls it while it initialises. 1 is success.
int InitializeInjection(void) {
  state = cuptiSubscribe(&subscriber, on_call, NULL);
  for (int i = 0; i < DOMAINS && state == CUPTI_SUCCESS; i++) state = cuptiEnableDomain(1, subscriber, domains[i]);
  return 1;
}

// Begins to count, from zero. Returns CUPTI's status: 0 if the trace works, 15 if the driver has not loaded it.
int api_trace_begin(void) {
  for (int i = 0; i < DOMAINS; i++)
    for (int j = 0; j < FUNCTIONS; j++) atomic_store(&calls[i][j], 0);
  atomic_store(&is_counting, 1);
  return state;
}

// Ends to count.
void api_trace_end(void) { atomic_store(&is_counting, 0); }

// Writes a line `driver cuLaunchKernel 100` for each function that was called. Returns the text's length, which is more
// than `size` if there is no room for it.
size_t api_trace_text(char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < DOMAINS; i++) {
    for (uint32_t j = 0; j < FUNCTIONS; j++) {
      unsigned long long count = atomic_load(&calls[i][j]);
      if (count == 0) continue;
      const char *name = NULL;
      if (cuptiGetCallbackName(domains[i], j, &name) != CUPTI_SUCCESS || !name) name = "unknown";
      size_t room = length < size ? size - length : 0;
      length += (size_t)snprintf(room ? text + length : NULL, room, "%s %s %llu\n", names[i], name, count);
    }
  }
  return length;
}
