// The host of a pwsh that serves many bodies: see pwsh-session.ps1, which loads it, for how it is spoken to.
//
// A body gets what a process of its own would give it: descriptors 0, 1 and 2, environment, working directory, and a
// runspace on a host that takes `exit` and $Host.SetShouldExit() for that body's, not for the process's. "As pwsh does"
// below is read from https://github.com/PowerShell/PowerShell/tree/v7.6.0/src/Microsoft.PowerShell.ConsoleHost/host/msh

using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Management.Automation;
using System.Management.Automation.Host;
using System.Management.Automation.Runspaces;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.RegularExpressions;

namespace PwshSession
{
    /// <summary>The session cannot go on: the message is its last word, and no answer of it can be trusted.</summary>
    public sealed class BrokenSessionException : Exception
    {
        public BrokenSessionException(string message) : base(message) { }
    }

    /// <summary>Answers requests, one after the other, until their end.</summary>
    public sealed class Session
    {
        const string WrapperName = "pwsh-preserving.ps1";
        const int Broken = 70;      // EX_SOFTWARE of sysexits.h
        const long MostBytes = 512 << 20;   // a session that has grown beyond this says that it takes no more bodies
        const int LowBits = 0xFF;   // https://pubs.opengroup.org/onlinepubs/9799919799/functions/_exit.html

        static readonly Regex RequestLine = new Regex(@"\A([A-Za-z0-9._-]+) (/\S*) (/\S*)\z");

        readonly ScriptBlock wrapper;
        readonly RecordingHost host;
        readonly Runspaces runspaces;
        readonly Channel channel = new Channel();
        readonly ProcessState state;
        readonly PosixSignalRegistration[] interrupts;
        volatile Pipeline running;

        Session(PSHost console, PSObject profile, string wrapper, string mode)
        {
            this.wrapper = ScriptBlock.Create(wrapper);
            host = new RecordingHost(console);
            runspaces = mode switch
            {
                "fresh" => new FreshRunspaces(host, profile),
                "reused" => new ReusedRunspace(host, profile),
                _ => throw new BrokenSessionException($"the last argument is {mode}: expected fresh or reused"),
            };
            state = new ProcessState(console);
            interrupts = new[] { PosixSignal.SIGINT, PosixSignal.SIGQUIT }
                .Select(signal => PosixSignalRegistration.Create(signal, Interrupt)).ToArray();
        }

        /// <summary>Serve bodies through the text of the wrapper to the end of requests; then end the process.</summary>
        public static void Serve(PSHost console, PSObject profile, string wrapper, string mode)
        {
            try
            {
                var session = new Session(console, profile, wrapper, mode);
                while (session.channel.Receive() is string line)
                    session.Answer(line);
                Environment.Exit(0);
            }
            catch (Exception error)
            {
                Descriptors.Write(2, Encoding.UTF8.GetBytes($"pwsh-session: {error.Message}\n"));
                Environment.Exit(Broken);
            }
        }

        void Answer(string line)
        {
            var parts = RequestLine.Match(line);
            if (!parts.Success)
                throw new BrokenSessionException($"a request was '{line}': expected ID FOLDER DIRECTORY without blanks");
            var (id, folder, directory) = (parts.Groups[1].Value, parts.Groups[2].Value, parts.Groups[3].Value);
            var body = Path.Combine(folder, "body");
            if (!File.Exists(body))
                throw new BrokenSessionException($"{body} is missing");
            BodyEnvironment.Apply(File.ReadAllBytes(Path.Combine(folder, "environment")));
            Directory.SetCurrentDirectory(directory);
            int code;
            using (channel.LendStandardStreams(folder))
            {
                channel.Reply($"{id} opened\n");
                code = Run(body);
                state.Restore();
            }
            var last = runspaces.Spent || Environment.WorkingSet > MostBytes;
            channel.Reply($"{id} exited {code}{(last ? " last" : "")}\n");
        }

        int Run(string body)
        {
            host.ExitCode = null;
            var runspace = runspaces.Take();
            var escaped = false;
            try
            {
                Invoke(runspace, body);
            }
            catch (Exception error)
            {
                escaped = true;
                ErrorReport.Show(error, runspace, host);
            }
            runspaces.GiveBack(runspace);
            return escaped && !PreservingWrapper.BodyDecided ? 1 : (host.ExitCode ?? 0) & LowBits;
        }

        // As pwsh runs -File (Executor.cs): errors go the way of the output, so that both keep their order.
        void Invoke(Runspace runspace, string body)
        {
            // A block that is parsed and compiled once for all bodies; as the text of a command it would be each time.
            runspace.SessionStateProxy.InvokeCommand.PreCommandLookupAction = (_, lookup) =>
            {
                if (lookup.CommandName == WrapperName)
                    lookup.CommandScriptBlock = wrapper;
            };
            using var pipeline = runspace.CreatePipeline();
            var command = new Command(WrapperName, isScript: false, useLocalScope: false);
            command.Parameters.Add(null, body);
            command.MergeMyResults(PipelineResultTypes.Error, PipelineResultTypes.Output);
            pipeline.Commands.Add(command);
            pipeline.Commands.Add(new Command(OutDefault.Name, isScript: false, useLocalScope: true));
            running = pipeline;
            try
            {
                pipeline.Invoke();
            }
            finally
            {
                running = null;
            }
        }

        // As pwsh does (ConsoleHost.cs): an interrupt stops the body, and the process goes on.
        void Interrupt(PosixSignalContext signal)
        {
            signal.Cancel = true;
            running?.StopAsync();
        }
    }

    /// <summary>What pwsh-preserving.ps1 keeps for the process, where a body does not see it.</summary>
    static class PreservingWrapper
    {
        const string Decide = "pwsh-preserving: decide", LastLookUp = "pwsh-preserving: last look-up";

        /// <summary>Whether the body called $Host.SetShouldExit(), which the wrapper answers by an empty decision.</summary>
        public static bool BodyDecided => AppContext.GetData(Decide)?.ToString().Trim() == "";

        /// <summary>Let what an earlier body left count as old.</summary>
        public static void Remember(object lastExitCode, object newestError) =>
            AppContext.SetData(LastLookUp, Tuple.Create(lastExitCode, newestError));

        public static void Forget()
        {
            AppContext.SetData(Decide, null);
            AppContext.SetData(LastLookUp, null);
        }
    }

    static class OutDefault
    {
        public const string Name = @"Microsoft.PowerShell.Core\Out-Default";    // whatever a body has called Out-Default
    }

    /// <summary>Where the runspaces of bodies come from.</summary>
    abstract class Runspaces
    {
        readonly PSHost host;
        readonly InitialSessionState initial = InitialSessionState.CreateDefault2();    // as pwsh does

        protected Runspaces(PSHost host, PSObject profile)
        {
            this.host = host;
            initial.Variables.Add(new SessionStateVariableEntry("PROFILE", profile, ""));   // as pwsh does
        }

        public abstract Runspace Take();
        public abstract void GiveBack(Runspace runspace);

        /// <summary>Whether there is none for a further body.</summary>
        public virtual bool Spent => false;

        protected Runspace Open()
        {
            var runspace = RunspaceFactory.CreateRunspace(host, initial);
            runspace.ThreadOptions = PSThreadOptions.ReuseThread;   // as pwsh does
            runspace.Open();
            // Where pwsh would prompt for what to do next, nobody is there to say it; without a listener it would wait.
            runspace.Debugger.DebuggerStop += (_, stop) => stop.ResumeAction = DebuggerResumeAction.Continue;
            return runspace;
        }
    }

    /// <summary>A new runspace for each body.</summary>
    sealed class FreshRunspaces : Runspaces
    {
        public FreshRunspaces(PSHost host, PSObject profile) : base(host, profile) { }

        public override Runspace Take() => Open();

        // While the body's streams are still there: its PowerShell.Exiting handlers may write to them.
        public override void GiveBack(Runspace runspace) => runspace.Dispose();
    }

    /// <summary>One runspace for all bodies: what a body leaves in it, the next one finds.</summary>
    sealed class ReusedRunspace : Runspaces
    {
        Runspace kept;

        public ReusedRunspace(PSHost host, PSObject profile) : base(host, profile) { }

        public override Runspace Take()
        {
            kept ??= Open();
            ModulePath.Apply();
            var proxy = kept.SessionStateProxy;
            proxy.Path.SetLocation(WildcardPattern.Escape(Environment.CurrentDirectory));
            var errors = proxy.GetVariable("global:Error") as ArrayList;
            PreservingWrapper.Remember(proxy.GetVariable("global:LASTEXITCODE"), errors?.Count > 0 ? errors[0] : null);
            return kept;
        }

        public override bool Spent => kept.RunspaceStateInfo.State != RunspaceState.Opened;     // a body has closed it

        public override void GiveBack(Runspace runspace)
        {
            if (Spent)
                return;
            runspace.SessionStateProxy.InvokeCommand.PreCommandLookupAction = null;
            PSObject.AsPSObject(runspace.SessionStateProxy.GetVariable("Host")).Methods.Remove("SetShouldExit");
        }
    }

    /// <summary>The real host, but that an exit ends the body and not the process.</summary>
    sealed class RecordingHost : PSHost
    {
        readonly PSHost console;

        public RecordingHost(PSHost console) => this.console = console;

        public int? ExitCode { get; set; }

        public override CultureInfo CurrentCulture => console.CurrentCulture;
        public override CultureInfo CurrentUICulture => console.CurrentUICulture;
        public override Guid InstanceId { get; } = Guid.NewGuid();
        public override string Name => console.Name;
        public override PSObject PrivateData => console.PrivateData;
        public override PSHostUserInterface UI => console.UI;
        public override Version Version => console.Version;
        public override void EnterNestedPrompt() => throw new NotSupportedException("A session has no nested prompt.");
        public override void ExitNestedPrompt() { }
        public override void NotifyBeginApplication() => console.NotifyBeginApplication();
        public override void NotifyEndApplication() => console.NotifyEndApplication();
        public override void SetShouldExit(int exitCode) => ExitCode = exitCode;
    }

    /// <summary>Shows the error that ended a body, as ConsoleHost.ReportException does.</summary>
    static class ErrorReport
    {
        // Tells Out-Default that an object is an error; it is set on what MergeMyResults merges, and not public.
        static readonly PropertyInfo WriteStream =
            typeof(PSObject).GetProperty("WriteStream", BindingFlags.Instance | BindingFlags.NonPublic);

        public static void Show(Exception error, Runspace runspace, PSHost host)
        {
            try
            {
                var record = (error as IContainsErrorRecord)?.ErrorRecord
                    ?? new ErrorRecord(error, "ConsoleHost.ReportException", ErrorCategory.NotSpecified, null);
                var shown = new PSObject(record);
                WriteStream.SetValue(shown, Enum.Parse(WriteStream.PropertyType, "Error"));
                using var pipeline = runspace.CreatePipeline();
                pipeline.Commands.Add(OutDefault.Name);
                pipeline.Input.Write(shown);
                pipeline.Input.Close();
                pipeline.Invoke();
            }
            catch (Exception)
            {
                host.UI.WriteErrorLine(error.Message);
            }
        }
    }

    /// <summary>The environment of a body.</summary>
    static class BodyEnvironment
    {
        static readonly string Home = Path.GetDirectoryName(typeof(PSObject).Assembly.Location) + Path.PathSeparator;

        /// <summary>Make the environment of this process what `block` says: NAME=VALUE, each ended by a NUL.</summary>
        public static void Apply(byte[] block)
        {
            var wanted = new Dictionary<string, string>();
            foreach (var entry in Encoding.UTF8.GetString(block).Split('\0', StringSplitOptions.RemoveEmptyEntries))
            {
                var equals = entry.IndexOf('=');
                if (equals > 0)
                    wanted[entry.Substring(0, equals)] = entry.Substring(equals + 1);
            }
            // As pwsh does at its start (ConsoleHost.cs), so that `pwsh` in a body is the same pwsh.
            var path = wanted.GetValueOrDefault("PATH");
            if (path == null || !path.StartsWith(Home, StringComparison.Ordinal))
                wanted["PATH"] = Home + path;
            foreach (DictionaryEntry old in Environment.GetEnvironmentVariables())
                if (!wanted.ContainsKey((string)old.Key))
                    Environment.SetEnvironmentVariable((string)old.Key, null);
            foreach (var (name, value) in wanted)
                Environment.SetEnvironmentVariable(name, value);
        }
    }

    /// <summary>PSModulePath, which pwsh makes of other variables where it opens a runspace.</summary>
    static class ModulePath
    {
        const string Variable = "PSModulePath";

        static readonly string[] Sources = { Variable, "HOME", "XDG_DATA_HOME" };
        static readonly Dictionary<string, string> Made = new Dictionary<string, string>();

        /// <summary>Set it as a runspace that is opened now would; the first time for each source, one is.</summary>
        public static void Apply()
        {
            var key = string.Join('\0', Sources.Select(Environment.GetEnvironmentVariable));
            if (!Made.TryGetValue(key, out var path))
            {
                using (var runspace = RunspaceFactory.CreateRunspace(InitialSessionState.Create()))
                    runspace.Open();
                Made[key] = path = Environment.GetEnvironmentVariable(Variable);
            }
            Environment.SetEnvironmentVariable(Variable, path);
        }
    }

    /// <summary>What a body can change of the process, as it was before the first one.</summary>
    sealed class ProcessState
    {
        // Who listens to CancelKeyPress is not public; where .NET has renamed this, the listeners of a body stay.
        static readonly FieldInfo CancelListeners =
            typeof(Console).GetField("s_cancelCallbacks", BindingFlags.Static | BindingFlags.NonPublic);

        readonly Encoding input = Console.InputEncoding, output = Console.OutputEncoding;
        readonly ConsoleColor foreground = Console.ForegroundColor, background = Console.BackgroundColor;
        readonly CultureInfo culture = CultureInfo.DefaultThreadCurrentCulture;
        readonly CultureInfo uiCulture = CultureInfo.DefaultThreadCurrentUICulture;
        readonly string directory = Environment.CurrentDirectory;
        readonly Delegate[] cancelListeners = Listeners();
        readonly List<(object Owner, PropertyInfo Property, object Value)> settings = new();
        readonly KeyValuePair<string, string>[] fileColors = FileColors();

        public ProcessState(PSHost console)
        {
            Keep(PSStyle.Instance);
            Keep(console.PrivateData.BaseObject);
        }

        public void Restore()
        {
            Directory.SetCurrentDirectory(Directory.Exists(directory) ? directory : "/");
            Console.InputEncoding = input;
            Console.OutputEncoding = output;
            if (Console.ForegroundColor != foreground || Console.BackgroundColor != background)
                Console.ResetColor();
            CultureInfo.DefaultThreadCurrentCulture = culture;
            CultureInfo.DefaultThreadCurrentUICulture = uiCulture;
            Environment.ExitCode = 0;
            PreservingWrapper.Forget();
            foreach (ConsoleCancelEventHandler listener in Listeners().Except(cancelListeners))
                Console.CancelKeyPress -= listener;
            foreach (var (owner, property, value) in settings)
                if (!Equals(property.GetValue(owner), value))
                    property.SetValue(owner, value);
            if (FileColors().SequenceEqual(fileColors))
                return;
            PSStyle.Instance.FileInfo.Extension.Clear();
            foreach (var (name, color) in fileColors)
                PSStyle.Instance.FileInfo.Extension.Add(name, color);
        }

        static KeyValuePair<string, string>[] FileColors() => PSStyle.Instance.FileInfo.Extension.Keys
            .Select(name => KeyValuePair.Create(name, PSStyle.Instance.FileInfo.Extension[name])).ToArray();

        static Delegate[] Listeners() =>
            (CancelListeners?.GetValue(null) as Delegate)?.GetInvocationList() ?? Array.Empty<Delegate>();

        void Keep(object owner)
        {
            foreach (var property in owner.GetType().GetProperties(BindingFlags.Instance | BindingFlags.Public))
                if (property.SetMethod?.IsPublic == true && property.GetIndexParameters().Length == 0)
                    settings.Add((owner, property, property.GetValue(owner)));
                else if (property.PropertyType.DeclaringType == typeof(PSStyle))
                    Keep(property.GetValue(owner));
        }
    }

    /// <summary>The descriptors of the session: requests and replies, and 0, 1 and 2, which it lends to bodies.</summary>
    sealed class Channel
    {
        readonly int requests, replies, messages, nothing;
        readonly string requestsFile, repliesFile;
        readonly byte[] buffer = new byte[8192];
        readonly StringBuilder line = new StringBuilder();
        int start, end;

        public Channel()
        {
            requests = Descriptors.Copy(0);
            replies = Descriptors.Copy(1);
            messages = Descriptors.Copy(2);
            nothing = Descriptors.Open("/dev/null", Descriptors.ReadWrite);
            (requestsFile, repliesFile) = (Descriptors.FileOf(requests), Descriptors.FileOf(replies));
            Descriptors.Replace(0, nothing);
            Descriptors.Replace(1, nothing);
            // Console.Out of the start still has a copy of 1: nothing but replies may ever be written there.
            Descriptors.Silence(nothing, requests, replies);
        }

        /// <summary>Return the next request, or null at the end of requests.</summary>
        public string Receive()
        {
            line.Clear();
            while (true)
            {
                if (start == end)
                {
                    if (Descriptors.FileOf(requests) != requestsFile)
                        throw new BrokenSessionException("a body closed the requests");
                    (start, end) = (0, Descriptors.Read(requests, buffer));
                    if (end == 0)
                        return line.Length == 0 ? null : throw new BrokenSessionException($"the requests ended within '{line}'");
                }
                var next = (char)buffer[start++];
                if (next == '\n')
                    return line.ToString();
                line.Append(next);
            }
        }

        public void Reply(string text)
        {
            if (Descriptors.FileOf(replies) != repliesFile)
                throw new BrokenSessionException("a body closed the replies");
            if (!Descriptors.Write(replies, Encoding.ASCII.GetBytes(text)))
                throw new BrokenSessionException("nobody reads the replies any more");
        }

        /// <summary>Put the streams in `folder` on 0, 1 and 2, until what is returned is disposed.</summary>
        public IDisposable LendStandardStreams(string folder)
        {
            var lent = new[]
            {
                Descriptors.Open(Path.Combine(folder, "stdin"), Descriptors.ReadOnly),
                Descriptors.Open(Path.Combine(folder, "stdout"), Descriptors.WriteOnly),
                Descriptors.Open(Path.Combine(folder, "stderr"), Descriptors.WriteOnly),
            };
            for (var descriptor = 0; descriptor < lent.Length; descriptor++)
                Descriptors.Replace(descriptor, lent[descriptor]);
            Console.SetIn(new StreamReader(new InputStream(), Console.InputEncoding, false, 4096));
            Console.SetOut(new ConsoleWriter(1));
            Console.SetError(new ConsoleWriter(2));
            return new Loan(() => TakeBack(lent));
        }

        // What .NET, or the body, copied of the outputs goes as well, or they would not end. Few bodies make copies, and to
        // look for them takes a millisecond or two: so only where somebody, maybe a child, can still write.
        void TakeBack(int[] lent)
        {
            Descriptors.Replace(0, nothing);
            Descriptors.Replace(1, nothing);
            Descriptors.Replace(2, messages);
            var readers = lent.Skip(1).Select(Descriptors.ReaderOf).ToArray();
            foreach (var descriptor in lent)
                Descriptors.Close(descriptor);
            if (!readers.All(Descriptors.HasNoWriter))
                Descriptors.Silence(nothing, readers);
            foreach (var reader in readers)
                Descriptors.Close(reader);
        }

        sealed class Loan : IDisposable
        {
            readonly Action takeBack;

            public Loan(Action takeBack) => this.takeBack = takeBack;

            public void Dispose() => takeBack();
        }
    }

    /// <summary>Text for a descriptor, in the encoding that Console.OutputEncoding is at that moment.</summary>
    sealed class ConsoleWriter : TextWriter
    {
        readonly int descriptor;
        Encoding encoding;
        Encoder encoder;

        public ConsoleWriter(int descriptor) : base(CultureInfo.InvariantCulture) => this.descriptor = descriptor;

        public override Encoding Encoding => Console.OutputEncoding;

        public override void Write(char value) => Write(new[] { value }, 0, 1);
        public override void Write(string text) => Write((text ?? "").ToCharArray(), 0, text?.Length ?? 0);
        public override void WriteLine(string text) => Write(text + NewLine);

        public override void Write(char[] text, int index, int count)
        {
            if (!Encoding.Equals(encoding))
                (encoding, encoder) = (Encoding, Encoding.GetEncoder());    // which keeps the first half of a pair
            var bytes = new byte[encoder.GetByteCount(text, index, count, flush: false)];
            encoder.GetBytes(text, index, count, bytes, 0, flush: false);
            Descriptors.Write(descriptor, bytes);   // into a pipe that nobody reads it goes unnoticed, as in .NET's own
        }
    }

    /// <summary>The bytes of descriptor 0, whatever file that is.</summary>
    sealed class InputStream : Stream
    {
        public override bool CanRead => true;
        public override bool CanWrite => false;
        public override bool CanSeek => false;
        public override long Length => throw new NotSupportedException();
        public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }
        public override void Flush() { }
        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
        public override void SetLength(long value) => throw new NotSupportedException();
        public override void Write(byte[] source, int offset, int count) => throw new NotSupportedException();

        public override int Read(byte[] target, int offset, int count)
        {
            var bytes = new byte[count];
            var taken = Descriptors.Read(0, bytes);
            Array.Copy(bytes, 0, target, offset, taken);
            return taken;
        }
    }

    /// <summary>System calls on descriptors; one that a signal interrupts is made again.</summary>
    static class Descriptors
    {
        public const int ReadOnly = 0, WriteOnly = 1, ReadWrite = 2;
        const int Lowest = 100;     // out of the way of a body that names descriptors itself
        const int Interrupted = 4, BrokenPipe = 32;
        const int DoNotWait = 0x800, HungUp = 0x10;     // of Linux, where alone they are used: see CanList
        const string Own = "/proc/self/fd";

        static readonly int CloseOnExec = OperatingSystem.IsMacOS() ? 0x1000000 : 0x80000;
        static readonly int CopyClosedOnExec = OperatingSystem.IsMacOS() ? 67 : 1030;
        static readonly bool CanList = Directory.Exists(Own);

        /// <summary>Open a file that no child inherits.</summary>
        public static int Open(string path, int flags)
        {
            var opened = Checked(() => open(path, flags | CloseOnExec, 0), $"{path} cannot be opened");
            var descriptor = Copy(opened);
            Close(opened);
            return descriptor;
        }

        /// <summary>Return a copy that no child inherits.</summary>
        public static int Copy(int descriptor) =>
            Checked(() => fcntl(descriptor, CopyClosedOnExec, Lowest), $"descriptor {descriptor} cannot be copied");

        /// <summary>Make `descriptor`, which children inherit, the same file as `source`.</summary>
        public static void Replace(int descriptor, int source) =>
            Checked(() => dup2(source, descriptor), $"descriptor {descriptor} cannot be replaced");

        /// <summary>Close; never twice: https://man7.org/linux/man-pages/man2/close.2.html</summary>
        public static void Close(int descriptor)
        {
            if (close(descriptor) < 0 && Marshal.GetLastPInvokeError() != Interrupted)
                throw new IOException($"descriptor {descriptor} cannot be closed: {Marshal.GetLastPInvokeErrorMessage()}");
        }

        /// <summary>Name the open file behind `descriptor`, as far as this system tells.</summary>
        public static string FileOf(int descriptor)
        {
            if (!CanList)
                return "";
            var name = new byte[4096];
            var length = (int)readlink($"{Own}/{descriptor}", name, name.Length);
            return length < 0 ? "" : Encoding.UTF8.GetString(name, 0, length);
        }

        /// <summary>Make every other descriptor for the files of `kept` lead to `nothing`.</summary>
        /// <remarks>
        /// Not closed: an object of .NET may own it, and would close what has that number next. .NET copies 0, 1 and 2 in
        /// Console.OpenStandardOutput() and its like, https://github.com/dotnet/runtime/blob/v10.0.0/src/libraries/System.Console/src/System/ConsolePal.Unix.cs
        /// </remarks>
        public static void Silence(int nothing, params int[] kept)
        {
            var files = kept.Select(FileOf).ToArray();
            if (CanList)
                foreach (var entry in Directory.GetFileSystemEntries(Own))
                    if (int.TryParse(Path.GetFileName(entry), out var descriptor) && !kept.Contains(descriptor)
                        && files.Contains(FileOf(descriptor)))
                        dup3(nothing, descriptor, CloseOnExec);
        }

        /// <summary>Open the other end of the pipe that `writer` writes to.</summary>
        public static int ReaderOf(int writer) => Open(CanList ? $"{Own}/{writer}" : "/dev/null", ReadOnly | DoNotWait);

        /// <summary>Whether nobody can write any more to the pipe of `reader`, which was opened while somebody could.</summary>
        public static bool HasNoWriter(int reader)
        {
            var asked = new Poll { Descriptor = reader };
            return !CanList || (poll(ref asked, 1, 0) > 0 && (asked.Happened & HungUp) != 0);
        }

        struct Poll
        {
            public int Descriptor;
            public short Asked;
            public short Happened;
        }

        /// <summary>Read what there is, at least a byte; return 0 at the end.</summary>
        public static int Read(int descriptor, byte[] target) =>
            Checked(() => (int)read(descriptor, target, target.Length), $"descriptor {descriptor} cannot be read");

        /// <summary>Write all of `bytes`; tell whether there is still somebody who reads them.</summary>
        public static bool Write(int descriptor, byte[] bytes)
        {
            var written = 0;
            while (written < bytes.Length)
            {
                var part = (int)write(descriptor, ref bytes[written], bytes.Length - written);
                if (part >= 0)
                    written += part;
                else if (Marshal.GetLastPInvokeError() == BrokenPipe)
                    return false;
                else if (Marshal.GetLastPInvokeError() != Interrupted)
                    throw new IOException($"descriptor {descriptor} cannot be written: {Marshal.GetLastPInvokeErrorMessage()}");
            }
            return true;
        }

        static int Checked(Func<int> call, string complaint)
        {
            while (true)
            {
                var result = call();
                if (result >= 0)
                    return result;
                if (Marshal.GetLastPInvokeError() != Interrupted)
                    throw new IOException($"{complaint}: {Marshal.GetLastPInvokeErrorMessage()}");
            }
        }

        [DllImport("libc", SetLastError = true)] static extern int open(string path, int flags, int mode);
        [DllImport("libc", SetLastError = true)] static extern int close(int descriptor);
        [DllImport("libc", SetLastError = true)] static extern int dup2(int source, int descriptor);
        [DllImport("libc", SetLastError = true)] static extern int dup3(int source, int descriptor, int flags);
        [DllImport("libc", SetLastError = true)] static extern int fcntl(int descriptor, int command, int argument);
        [DllImport("libc", SetLastError = true)] static extern int poll(ref Poll asked, nuint count, int milliseconds);
        [DllImport("libc", SetLastError = true)] static extern nint readlink(string path, byte[] name, nint size);
        [DllImport("libc", SetLastError = true)] static extern nint read(int descriptor, byte[] buffer, nint count);
        [DllImport("libc", SetLastError = true)] static extern nint write(int descriptor, ref byte first, nint count);
    }
}
