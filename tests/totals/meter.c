/* Watches what the memory allocators of TVM's virtual machine obtain from the C library and give back.
 *
 * Loaded with LD_PRELOAD, so it sees the real calls. Kernels obtain workspaces through the same function of the
 * CPU device; they are told apart by the code that asked for the memory: `meter_learn` takes the caller of the next
 * call as one of the allocators, `meter_start` counts only what such callers obtain. The calls of kernels come by
 * here too, once `meter_workspaces` was told where the real functions are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 16, MAX_CALLERS = 8, MAX_EVENTS = 1 << 16, CALLER = 2, MAX_REQUESTS = 256, SMALLEST = 512 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { void *pointer; size_t size; int kind; } table[SLOTS];
/* Who obtained memory: an allocator, the workspace pool, another caller of the device, C++'s `new`. */
enum { ALLOCATOR, POOL, OTHERS, HEAP, KINDS };
static int64_t others[KINDS], most_others[KINDS];
static void *callers[MAX_CALLERS];
static int caller_count, learning, counting;
static int64_t live, peak, events[MAX_EVENTS], event_count;
/* Of the workspace pool: what kernels asked for, what the pool obtained, and the latter with the allocators' bytes. */
static struct { void *pointer; int64_t size; } requests[MAX_REQUESTS];
static int64_t asked, most_asked, pool, most_pool, most_together;
static __thread int in_pool;
static void *(*next_take)(int, int, uint64_t, int, int);
static int (*next_give)(int, int, void *);

static size_t slot_of(void *pointer) {
  size_t slot = ((uintptr_t)pointer >> 6) * 2654435761u % SLOTS;
  while (table[slot].pointer != pointer && table[slot].pointer != NULL) slot = (slot + 1) % SLOTS;
  return slot;
}

static void record(int64_t change, int kind) {
  if (kind == OTHERS || kind == HEAP) {
    others[kind] += change;
    if (others[kind] > most_others[kind]) most_others[kind] = others[kind];
    return;
  }
  if (kind == POOL) {
    pool += change;
    if (pool > most_pool) most_pool = pool;
  } else {
    live += change;
    if (live > peak) peak = live;
    if (event_count < MAX_EVENTS) events[event_count++] = change;
  }
  if (live + pool > most_together) most_together = live + pool;
}

static int is_known(void *caller) {
  for (int i = 0; i < caller_count; ++i)
    if (callers[i] == caller) return 1;
  return 0;
}

static void note(void *pointer, size_t size, int kind) {
  size_t slot = slot_of(pointer);
  table[slot].pointer = pointer;
  table[slot].size = size;
  table[slot].kind = kind;
  record((int64_t)size, kind);
}

/* C++'s `operator new`, plain and `nothrow`; `delete` is `free`. Small blocks are objects of the VM. */
static void *counted_new(size_t size) {
  void *result = malloc(size ? size : 1);
  if (counting && result && size >= SMALLEST) {
    pthread_mutex_lock(&lock);
    note(result, size, HEAP);
    pthread_mutex_unlock(&lock);
  }
  return result;
}

void *_Znwm(size_t size) { return counted_new(size); }
void *_ZnwmRKSt9nothrow_t(size_t size, const void *tag) { return counted_new(size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  static int (*next)(void **, size_t, size_t);
  if (!next) next = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
  int status = next(result, alignment, size);
  if (status == 0 && (learning || counting)) {
    void *frames[CALLER + 1];
    int depth = backtrace(frames, CALLER + 1);
    void *caller = depth > CALLER ? frames[CALLER] : NULL;
    pthread_mutex_lock(&lock);
    if (learning && !is_known(caller) && caller_count < MAX_CALLERS) callers[caller_count++] = caller;
    if (counting) note(*result, size, in_pool ? POOL : is_known(caller) ? ALLOCATOR : OTHERS);
    pthread_mutex_unlock(&lock);
  }
  return status;
}

void free(void *pointer) {
  static void (*next)(void *);
  if (!next) next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
  if (counting && pointer) {
    pthread_mutex_lock(&lock);
    size_t slot = slot_of(pointer);
    if (table[slot].pointer && table[slot].size != SIZE_MAX) {
      record(-(int64_t)table[slot].size, table[slot].kind);
      /* The slot stays taken, so that those behind it are still found. */
      table[slot].size = SIZE_MAX;
    }
    pthread_mutex_unlock(&lock);
  }
  next(pointer);
}

void *TVMBackendAllocWorkspace(int device_type, int device, uint64_t size, int code, int bits) {
  in_pool = 1;
  void *result = next_take(device_type, device, size, code, bits);
  in_pool = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; counting && i < MAX_REQUESTS; ++i)
    if (!requests[i].pointer) {
      requests[i].pointer = result;
      requests[i].size = (int64_t)size;
      asked += requests[i].size;
      break;
    }
  if (asked > most_asked) most_asked = asked;
  pthread_mutex_unlock(&lock);
  return result;
}

int TVMBackendFreeWorkspace(int device_type, int device, void *pointer) {
  pthread_mutex_lock(&lock);
  for (int i = 0; counting && i < MAX_REQUESTS; ++i)
    if (requests[i].pointer == pointer) {
      asked -= requests[i].size;
      requests[i].pointer = NULL;
      break;
    }
  pthread_mutex_unlock(&lock);
  return next_give(device_type, device, pointer);
}

void meter_workspaces(void *take, void *give) {
  next_take = (void *(*)(int, int, uint64_t, int, int))take;
  next_give = (int (*)(int, int, void *))give;
}

void meter_learn(int on) { learning = on; }

void meter_start(void) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < SLOTS; ++i) table[i].pointer = NULL;
  for (int i = 0; i < MAX_REQUESTS; ++i) requests[i].pointer = NULL;
  memset(others, 0, sizeof others);
  memset(most_others, 0, sizeof most_others);
  live = peak = event_count = asked = most_asked = pool = most_pool = most_together = 0;
  counting = 1;
  pthread_mutex_unlock(&lock);
}

void meter_stop(void) { counting = 0; }
int64_t meter_live(void) { return live; }
int64_t meter_peak(void) { return peak; }
int64_t meter_others(void) { return others[OTHERS]; }
int64_t meter_heap(void) { return most_others[HEAP]; }
int64_t meter_asked(void) { return most_asked; }
int64_t meter_pool(void) { return most_pool; }
int64_t meter_together(void) { return most_together; }
int64_t meter_callers(void) { return caller_count; }
int64_t meter_event(int64_t index) { return index < event_count ? events[index] : 0; }
